"""Mounts images, as they are after power cuts, and lists what is there. usage: recover.py FOLDER

A line of FOLDER/jobs.jsonl is a job, its answer a line of FOLDER/results.jsonl:
  {"job":"load", "base":NAME, "from":PATH}
      takes a file for a base
  {"job":"assemble", "base":NAME, "bytes":N, "patch":[FIRST, COUNT]}
      makes a base of COUNT blocks and zeroes. FOLDER/patches has pairs of 32-bit numbers: a block of 4 KiB and the piece
      of FOLDER/pieces that it holds.
  {"job":"recover", "base":NAME, "patch":[FIRST, COUNT], "type":T, "options":O, "without":[...]}
      a base with COUNT blocks replaced, mounted: {"tree":...} or {"error":...}
"""
import base64, ctypes, errno, fcntl, json, os, stat, struct, sys, tempfile, zlib

BLOCK = 4096
DETACH = 2
LOOP_CTL_GET_FREE, LOOP_CONFIGURE, LO_FLAGS_AUTOCLEAR = 0x4C82, 0x4C0A, 4

libc = ctypes.CDLL(None, use_errno=True)
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


class Recoveries:
    def __init__(self, folder, work):
        self.folder = folder
        self.work = work
        self.place = f'{work}/mounted'
        self.bases = {}
        os.mkdir(self.place)
        with open(f'{folder}/pieces', 'rb') as f:
            self.pieces = f.read()

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

    def listed(self, image, job):
        strings = (image.path, self.place, job['type'])
        try:
            check(libc.mount(*(x.encode() for x in strings), 0, job['options'].encode()), 'mount')
        except OSError as e:
            return {'error': str(e)}
        try:
            return {'tree': tree_of(self.place, job['without'])}
        except OSError as e:
            return {'error': str(e)}
        finally:
            check(libc.umount(self.place.encode()), 'umount')


def main(folder):
    work = tempfile.mkdtemp(prefix='flashstack-recover-')
    # In memory: a real disk would have to write at each flush.
    check(libc.mount(b'tmpfs', work.encode(), b'tmpfs', 0, b'size=1g'), 'mount tmpfs')
    try:
        recoveries = Recoveries(folder, work)
        with open(f'{folder}/jobs.jsonl') as jobs, open(f'{folder}/results.jsonl', 'w') as results:
            for line in jobs:
                job = json.loads(line)
                results.write(json.dumps(getattr(recoveries, job['job'])(job)) + '\n')
    finally:
        check(libc.umount2(work.encode(), DETACH), 'umount')
        os.rmdir(work)


main(sys.argv[1])
