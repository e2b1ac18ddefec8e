"""Asks the kernel it runs on what file systems do. usage: kernel.py FOLDER

A line of FOLDER/jobs.jsonl is a job, its answer a line of FOLDER/results.jsonl:
  {"job":"make", "base":NAME, "mkfs":[...], "bytes":N, "type":T, "options":O, "steps":[...]}
      formats a volume, performs the steps, unmounts: a base for other jobs
  {"job":"load", "base":NAME, "from":PATH}
      takes a file for a base, or a device such as $DISK0
  {"job":"recover", "base":NAME, "patch":[FIRST, COUNT], "type":T, "options":O, "without":[...]}
      a base with COUNT blocks replaced, mounted: {"tree":...} or {"error":...}. FOLDER/patches has pairs of 32-bit
      numbers: a block of 4 KiB and the piece of FOLDER/pieces that it holds.
  {"job":"cut", "base":NAME, "steps":[...], "type":T, "options":O}
      performs the steps, stops the file system as a power cut does, mounts it again:
      {"outcomes":[[code, bytes], ...], "tree":..., "error":...}
A step is [name, ...arguments], with the bytes of writes (zlib, base64) as a last argument.
"""
import base64, ctypes, errno, fcntl, json, mmap, os, shutil, stat, struct, subprocess, sys, tempfile, zlib

BLOCK = 4096
SHUTDOWN = 0x8004587D
WITHOUT_SYNC = 2
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


class Volume:
    """An image that is mounted at a place, through a loop device that goes with it."""

    def __init__(self, image, kind, options, place):
        self.place = place
        file = os.open(image, os.O_RDWR)
        try:
            self.device = self.attach(file)
            try:
                path = f'/dev/loop{self.number}'.encode()
                check(libc.mount(path, place.encode(), kind.encode(), 0, options.encode()), 'mount')
            finally:
                os.close(self.device)
        finally:
            os.close(file)

    def attach(self, file):
        control = os.open('/dev/loop-control', os.O_RDWR)
        try:
            while True:
                self.number = fcntl.ioctl(control, LOOP_CTL_GET_FREE)
                device = os.open(f'/dev/loop{self.number}', os.O_RDWR)
                info = bytearray(304)
                struct.pack_into('<II', info, 0, file, BLOCK)
                struct.pack_into('<I', info, 8 + 52, LO_FLAGS_AUTOCLEAR)
                try:
                    fcntl.ioctl(device, LOOP_CONFIGURE, bytes(info))
                    return device
                except OSError as e:
                    os.close(device)
                    if e.errno != errno.EBUSY:  # somebody else was faster
                        raise
        finally:
            os.close(control)

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


def patch(folder, image, first, count):
    with open(f'{folder}/patches', 'rb') as f:
        f.seek(8 * first)
        pairs = struct.unpack(f'<{2 * count}I', f.read(8 * count))
    with open(image, 'r+b') as target, open(f'{folder}/pieces', 'rb') as pieces:
        for block, piece in zip(pairs[::2], pairs[1::2]):
            os.pwrite(target.fileno(), os.pread(pieces.fileno(), BLOCK, BLOCK * piece), BLOCK * block)


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
        os.mkdir(self.place)

    def base(self, job):
        return f'{self.work}/{job["base"]}'

    def mount(self, job):
        return Volume(f'{self.work}/image', job['type'], job['options'], self.place)

    def make(self, job):
        base = self.base(job)
        with open(base, 'wb') as f:
            f.truncate(job['bytes'])
        subprocess.run([*job['mkfs'], base], check=True, stdout=subprocess.DEVNULL)
        volume = Volume(base, job['type'], job['options'], self.place)
        program = Program(self.place)
        outcomes = program.run(job['steps'])
        program.end()
        volume.unmount()
        return {'outcomes': outcomes}

    def load(self, job):
        source = os.path.expandvars(job['from'])
        subprocess.run(['cp', '--sparse=always', source, self.base(job)], check=True)
        return {}

    def recover(self, job):
        copy_sparse(self.base(job), f'{self.work}/image')
        patch(self.folder, f'{self.work}/image', *job['patch'])
        return self.listed(job)

    def cut(self, job):
        copy_sparse(self.base(job), f'{self.work}/image')
        volume = self.mount(job)
        program = Program(self.place)
        outcomes = program.run(job['steps'])
        program.end()
        volume.cut()
        return {'outcomes': outcomes, **self.listed(job)}

    def listed(self, job):
        try:
            volume = self.mount(job)
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
        check(libc.umount(work.encode()), 'umount')
        os.rmdir(work)


main(sys.argv[1])
