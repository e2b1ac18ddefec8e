"""Asks the kernel it runs on what file systems do. usage: kernel.py FOLDER

A line of FOLDER/jobs.jsonl is a job, its answer a line of FOLDER/results.jsonl:
  {"job":"make", "base":NAME, "mkfs":[...], "bytes":N, "type":T, "options":O, "steps":[...]}
      formats a volume, performs the steps, unmounts: a base for other jobs
  {"job":"load", "base":NAME, "from":PATH}
      takes a file for a base
  {"job":"assemble", "base":NAME, "bytes":N, "patch":[FIRST, COUNT]}
      makes a base of COUNT blocks and zeroes. FOLDER/patches has pairs of 32-bit numbers: a block of 4 KiB and the piece
      of FOLDER/pieces that it holds.
  {"job":"recover", "base":NAME, "patch":[FIRST, COUNT], "type":T, "options":O, "without":[...]}
      a base with COUNT blocks replaced, mounted: {"tree":...} or {"error":...}
  {"job":"cut", "base":NAME, "steps":[...], "type":T, "options":O}
      performs the steps, stops the file system as a power cut does, mounts it again:
      {"outcomes":[[code, bytes], ...], "tree":..., "error":...}
A step is [name, ...arguments], with the bytes of writes (zlib, base64) as a last argument.
"""
import base64, ctypes, errno, fcntl, json, mmap, os, stat, struct, subprocess, sys, tempfile, zlib

BLOCK = 4096
SHUTDOWN = 0x8004587D
WITHOUT_SYNC = 2
DETACH = 2
LOOP_CTL_GET_FREE, LOOP_CONFIGURE, LO_FLAGS_AUTOCLEAR = 0x4C82, 0x4C0A, 4
MODES = {'allocate': 0, 'keep-size': 1, 'punch': 3, 'zero': 16, 'zero-keep-size': 17, 'collapse': 8, 'insert': 32}
WRITES = {
    'write': 0, 'write-sync': os.O_SYNC, 'write-dsync': os.O_DSYNC, 'write-direct': os.O_DIRECT,
    'append': os.O_APPEND, 'append-sync': os.O_APPEND | os.O_SYNC, 'append-dsync': os.O_APPEND | os.O_DSYNC,
}

libc = ctypes.CDLL(None, use_errno=True)
libc.renameat2.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
libc.linkat.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_int]
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
libc.sync_file_range.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint]
libc.mount.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p]


def check(result, what):
    if result != 0:
        raise OSError(ctypes.get_errno(), f'{what}: {os.strerror(ctypes.get_errno())}')


class Image:
    """A device with what a base holds, which can be written without changing the base."""

    def __init__(self, base, work):
        copy_sparse(base, f'{work}/image')
        self.loop = self.attach(f'{work}/image')

    def attach(self, file):
        """A loop device that is gone when nobody uses it any more."""
        control = os.open('/dev/loop-control', os.O_RDWR)
        backing = os.open(file, os.O_RDWR)
        try:
            while True:
                number = fcntl.ioctl(control, LOOP_CTL_GET_FREE)
                self.path = f'/dev/loop{number}'
                device = os.open(self.path, os.O_RDWR)
                info = bytearray(304)
                struct.pack_into('<II', info, 0, backing, BLOCK)
                struct.pack_into('<I', info, 8 + 52, LO_FLAGS_AUTOCLEAR)
                try:
                    fcntl.ioctl(device, LOOP_CONFIGURE, bytes(info))
                    return device
                except OSError as e:
                    os.close(device)
                    if e.errno != errno.EBUSY:  # somebody else was faster
                        raise
        finally:
            os.close(backing)
            os.close(control)

    def release(self):
        os.close(self.loop)


class Volume:
    """A device that is mounted at a place."""

    def __init__(self, device, kind, options, place):
        self.place = place
        check(libc.mount(device.encode(), place.encode(), kind.encode(), 0, options.encode()), 'mount')

    def cut(self):
        root = os.open(self.place, os.O_RDONLY)
        fcntl.ioctl(root, SHUTDOWN, struct.pack('<I', WITHOUT_SYNC))
        os.close(root)
        self.unmount()

    def unmount(self):
        check(libc.umount(self.place.encode()), 'umount')


def copy_sparse(source, target):
    """Data only: what is a hole stays one."""
    with open(source, 'rb') as a, open(target, 'wb') as b:
        end = os.fstat(a.fileno()).st_size
        at = 0
        while at < end:
            try:
                at = os.lseek(a.fileno(), at, os.SEEK_DATA)
            except OSError as e:
                if e.errno != errno.ENXIO:
                    raise
                break
            stop = os.lseek(a.fileno(), at, os.SEEK_HOLE)
            os.lseek(b.fileno(), at, os.SEEK_SET)
            while at < stop:
                at += os.sendfile(b.fileno(), a.fileno(), at, stop - at)
        os.truncate(b.fileno(), end)


def text(path):
    return path.decode('latin1')


def node_of(path, status):
    kind = stat.S_IFMT(status.st_mode)
    kinds = {stat.S_IFREG: 'file', stat.S_IFDIR: 'directory', stat.S_IFLNK: 'symlink'}
    node = {
        'ino': status.st_ino, 'kind': kinds.get(kind, 'other'), 'mode': stat.S_IMODE(status.st_mode),
        'uid': status.st_uid, 'gid': status.st_gid, 'links': status.st_nlink, 'size': status.st_size,
        'sectors': status.st_blocks,
    }
    if kind == stat.S_IFLNK:
        node['target'] = text(os.readlink(path))
    else:
        names = [n for n in os.listxattr(path) if n.startswith('user.')]
        node['attributes'] = {n: text(os.getxattr(path, n)) for n in names}
    if kind == stat.S_IFREG:
        with open(path, 'rb') as f:
            node['contents'] = packed(f.read())
    return node


def packed(data):
    return base64.b64encode(zlib.compress(data, 1)).decode()


def unpacked(data):
    return zlib.decompress(base64.b64decode(data))


def tree_of(place, without):
    """Lists of [path, node], the root first; what is in `without` is left out."""
    root = place.encode()
    found = [['', node_of(root, os.lstat(root))]]
    todo = [b'']
    while todo:
        folder = todo.pop()
        for name in sorted(os.listdir(os.path.join(root, folder) if folder else root)):
            path = folder + b'/' + name if folder else name
            if text(path) in without:
                continue
            full = os.path.join(root, path)
            status = os.lstat(full)
            found.append([text(path), node_of(full, status)])
            if stat.S_ISDIR(status.st_mode):
                todo.append(path)
    return found


class Program:
    """Performs steps below a directory."""

    def __init__(self, place):
        self.root = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
        self.place = place
        self.handles = {}

    def end(self):
        for fd in self.handles.values():
            os.close(fd)
        os.close(self.root)

    def path(self, name):
        return os.path.join(self.place, name).encode('latin1').rstrip(b'/')

    def run(self, steps):
        outcomes = []
        for step in steps:
            try:
                outcomes.append(['none', self.step(*step)])
            except OSError as e:
                outcomes.append([errno.errorcode[e.errno], 0])
        return outcomes

    def step(self, name, *args):
        """Bytes written by a write, otherwise 0."""
        if name in WRITES or name in ('store', 'msync', 'sync-range', 'fsync', 'fdatasync', 'fallocate'):
            return self.on_file(name, *args)
        if name in ('open', 'tmpfile'):
            flags = os.O_RDWR | (os.O_TMPFILE if name == 'tmpfile' else 0)
            self.handles[args[0]] = os.open(self.path(args[1]), flags, 0o644)
        elif name == 'close':
            os.close(self.handles.pop(args[0]))
        elif name == 'sync':
            os.sync()
        elif name == 'syncfs':
            check(libc.syncfs(self.root), name)
        elif name == 'truncate':
            where = self.handles[args[0]] if args[0] in self.handles else self.path(args[0])
            os.truncate(where, args[1])
        elif name == 'setxattr':
            os.setxattr(self.path(args[0]), args[1], args[2].encode('latin1'))
        elif name == 'removexattr':
            os.removexattr(self.path(args[0]), args[1])
        elif name == 'chmod':
            os.chmod(self.path(args[0]), args[1])
        elif name == 'chown':
            os.chown(self.path(args[0]), args[1], args[2])
        else:
            self.on_name(name, *args)
        return 0

    def on_name(self, name, a, b=''):
        if name == 'create':
            os.close(os.open(self.path(a), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
        elif name == 'mkdir':
            os.mkdir(self.path(a), 0o755)
        elif name == 'symlink':
            os.symlink(a.encode('latin1'), self.path(b))
        elif name == 'unlink':
            os.unlink(self.path(a))
        elif name == 'rmdir':
            os.rmdir(self.path(a))
        elif name == 'link':
            if a in self.handles:
                source = f'/proc/self/fd/{self.handles[a]}'.encode()
                check(libc.linkat(-100, source, -100, self.path(b), 0x400), name)
            else:
                check(libc.linkat(-100, self.path(a), -100, self.path(b), 0), name)
        elif name in ('rename', 'rename-noreplace', 'exchange'):
            flags = {'rename': 0, 'rename-noreplace': 1, 'exchange': 2}[name]
            check(libc.renameat2(-100, self.path(a), -100, self.path(b), flags), name)
        else:
            raise ValueError(f'no operation {name}')

    def on_file(self, name, file, *args):
        if file in self.handles:
            return self.on_open(self.handles[file], name, *args)
        reads = name in ('fsync', 'fdatasync')
        fd = os.open(self.path(file), os.O_RDONLY if reads else os.O_RDWR | WRITES.get(name, 0))
        try:
            return self.on_open(fd, name, *args)
        finally:
            os.close(fd)

    def on_open(self, fd, name, *args):
        if name == 'fsync':
            os.fsync(fd)
        elif name == 'fdatasync':
            os.fdatasync(fd)
        elif name == 'fallocate':
            check(libc.fallocate(fd, MODES[args[0]], args[1], args[2]), name)
        elif name == 'sync-range':
            check(libc.sync_file_range(fd, args[0], args[1], 7), name)
        elif name in ('store', 'msync'):
            first = args[0] // mmap.PAGESIZE * mmap.PAGESIZE
            with mmap.mmap(fd, args[0] + args[1] - first, offset=first) as view:
                if name == 'store':
                    view[args[0] - first :] = unpacked(args[2])
                else:
                    view.flush()
        elif name.startswith('append'):
            return os.write(fd, unpacked(args[-1]))
        else:
            data = unpacked(args[-1])
            aligned = mmap.mmap(-1, len(data) or 1)  # O_DIRECT wants it
            aligned[: len(data)] = data
            return os.pwrite(fd, memoryview(aligned)[: len(data)], args[0])
        return 0


class Kernel:
    def __init__(self, folder, work):
        self.folder = folder
        self.work = work
        self.place = f'{work}/mounted'
        self.bases = {}
        os.mkdir(self.place)
        with open(f'{folder}/pieces', 'rb') as f:
            self.pieces = f.read()

    def mount(self, device, job):
        return Volume(device, job['type'], job['options'], self.place)

    def make(self, job):
        base = self.bases[job['base']] = f'{self.work}/base-{len(self.bases)}'
        with open(f'{self.work}/empty', 'wb') as f:
            f.truncate(job['bytes'])
        image = Image(f'{self.work}/empty', self.work)
        subprocess.run([*job['mkfs'], image.path], check=True, stdout=subprocess.DEVNULL)
        outcomes = self.perform(image, job, Volume.unmount)
        image.release()
        os.rename(f'{self.work}/image', base)
        return {'outcomes': outcomes}

    def load(self, job):
        self.bases[job['base']] = job['from']
        return {}

    def assemble(self, job):
        base = self.bases[job['base']] = f'{self.work}/base-{len(self.bases)}'
        with open(base, 'wb') as f:
            f.truncate(job['bytes'])
        self.patch(base, *job['patch'])
        return {}

    def patch(self, path, first, count):
        with open(f'{self.folder}/patches', 'rb') as f:
            f.seek(8 * first)
            pairs = struct.unpack(f'<{2 * count}I', f.read(8 * count))
        target = os.open(path, os.O_RDWR)
        for block, piece in zip(pairs[::2], pairs[1::2]):
            os.pwrite(target, self.pieces[BLOCK * piece : BLOCK * (piece + 1)], BLOCK * block)
        os.fsync(target)
        os.close(target)

    def recover(self, job):
        image = Image(self.bases[job['base']], self.work)
        self.patch(image.path, *job['patch'])
        listed = self.listed(image, job)
        image.release()
        return listed

    def cut(self, job):
        image = Image(self.bases[job['base']], self.work)
        outcomes = self.perform(image, job, Volume.cut)
        listed = self.listed(image, job)
        image.release()
        return {'outcomes': outcomes, **listed}

    def perform(self, image, job, end):
        volume = self.mount(image.path, job)
        program = Program(self.place)
        outcomes = program.run(job['steps'])
        program.end()
        end(volume)
        return outcomes

    def listed(self, image, job):
        try:
            volume = self.mount(image.path, job)
        except OSError as e:
            return {'error': str(e)}
        try:
            return {'tree': tree_of(self.place, job.get('without', []))}
        except OSError as e:
            return {'error': str(e)}
        finally:
            volume.unmount()


def main(folder):
    os.umask(0)
    work = tempfile.mkdtemp(prefix='flashstack-kernel-')
    # In memory: a real disk would have to write at each flush.
    check(libc.mount(b'tmpfs', work.encode(), b'tmpfs', 0, b'size=1g'), 'mount tmpfs')
    try:
        kernel = Kernel(folder, work)
        with open(f'{folder}/jobs.jsonl') as jobs, open(f'{folder}/results.jsonl', 'w') as results:
            for line in jobs:
                job = json.loads(line)
                results.write(json.dumps(getattr(kernel, job['job'])(job)) + '\n')
    finally:
        check(libc.umount2(work.encode(), DETACH), 'umount')
        os.rmdir(work)


main(sys.argv[1])
