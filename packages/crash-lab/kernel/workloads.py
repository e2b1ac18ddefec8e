"""Runs workloads on a real kernel's file system, cuts it off, mounts it again and lists what is left.

    python3 workloads.py < task.json > answers.jsonl

The task: {"device": block device with an empty file system, "backing": the file behind it or the device itself, "place": where
it is mounted, "fileSystem", "options": of mount, "base": steps, "workloads": [steps, ...]}. Each answer is a line: {"codes", "bytes", "tree"}, or {"error"} if the volume
could not be mounted again. Steps are those of the workload language; contents are the same as those of the simulated host.
"""
import base64
import ctypes
import errno
import fcntl
import json
import mmap
import os
import stat
import struct
import sys
import zlib

SHUTDOWN = 0x8004587D  # EXT4_IOC_SHUTDOWN, F2FS_IOC_SHUTDOWN
WITHOUT_LOG = 2  # nothing further reaches the device
AT_FDCWD, AT_EMPTY_PATH = -100, 0x1000
KEEP_SIZE, PUNCH, COLLAPSE, ZERO, INSERT = 1, 2, 8, 16, 32
ALLOCATIONS = {
    'allocate': 0, 'keep-size': KEEP_SIZE, 'punch': PUNCH | KEEP_SIZE, 'zero': ZERO,
    'zero-keep-size': ZERO | KEEP_SIZE, 'collapse': COLLAPSE, 'insert': INSERT,
}
WRITES = {
    'write': 0, 'write-sync': os.O_SYNC, 'write-dsync': os.O_DSYNC, 'write-direct': os.O_DIRECT,
    'append': os.O_APPEND, 'append-sync': os.O_APPEND | os.O_SYNC, 'append-dsync': os.O_APPEND | os.O_DSYNC,
}
MASK = 0xFFFFFFFF
libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
libc.sync_file_range.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint]


def checked(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 0


def mix(x):
    x ^= x >> 16
    x = x * 0x85EBCA6B & MASK
    x ^= x >> 13
    x = x * 0xC2B2AE35 & MASK
    return x ^ x >> 16


def file_number(path):
    number = len(path)
    for letter in path:
        number = mix(number * 31 + ord(letter) & MASK)
    return number


def contents(path, version, offset, length):
    file = file_number(path)
    first = offset // 512
    parts = []
    for sector in range(first, (offset + length + 511) // 512):
        sum = mix(file ^ mix(sector ^ mix(version)))
        parts.append(struct.pack('<4I', file, sector, version, sum) * 32)
    return b''.join(parts)[offset - first * 512:][:length]


class Program:
    """Open handles of one program, and its calls."""

    def __init__(self):
        self.handles = {}

    def handle(self, name):
        if name not in self.handles:
            raise OSError(errno.EBADF, name)
        return self.handles[name]

    def open(self, path, flags):
        """A descriptor and whether it is to be closed after use."""
        if path.startswith('#'):
            return self.handle(path)[0], False
        return os.open(path or '.', flags), True

    def on_file(self, file, flags, use):
        fd, own = self.open(file, flags)
        try:
            return use(fd)
        finally:
            if own:
                os.close(fd)

    def path_of(self, file):
        return self.handle(file)[1] if file.startswith('#') else file

    def write(self, name, file, args, version):
        flags = WRITES[name]
        appends = flags & os.O_APPEND
        offset, length = (0, args[0]) if appends else args
        data = contents(self.path_of(file), version, offset, length)
        if flags & os.O_DIRECT:
            aligned = mmap.mmap(-1, max(length, 1))
            aligned[:length] = data
            data = memoryview(aligned)[:length]
        if appends and file.startswith('#'):
            return self.on_file(file, 0, lambda fd: os.pwrite(fd, data, os.fstat(fd).st_size))
        put = (lambda fd: os.write(fd, data)) if appends else (lambda fd: os.pwrite(fd, data, offset))
        return self.on_file(file, flags | os.O_RDWR, put)

    def store(self, file, offset, length, version):
        def put(fd):
            stored = min(length, os.fstat(fd).st_size - offset)
            if stored > 0:
                with mmap.mmap(fd, offset + stored) as mapped:
                    mapped[offset:] = contents(self.path_of(file), version, offset, stored)
            return 0
        return self.on_file(file, os.O_RDWR, put)

    def msync(self, file, offset, length):
        def put(fd):
            first = offset // mmap.PAGESIZE * mmap.PAGESIZE
            end = min(offset + length, os.fstat(fd).st_size)
            if end > offset:
                with mmap.mmap(fd, end) as mapped:
                    mapped.flush(first, end - first)
            return 0
        return self.on_file(file, os.O_RDWR, put)

    def perform(self, step, version):
        name, *args = step
        a = args[0] or '.' if args else ''
        b = args[1] if len(args) > 1 else ''
        if name in WRITES:
            return self.write(name, a, args[1:], version)
        if name == 'create':
            return os.close(os.open(a, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)) or 0
        if name == 'mkdir': return os.mkdir(a, 0o755) or 0
        if name == 'symlink': return os.symlink(a, b) or 0
        if name == 'unlink': return os.unlink(a) or 0
        if name == 'rmdir': return os.rmdir(a) or 0
        if name == 'link':
            if a.startswith('#'):
                return checked(libc.linkat(self.handle(a)[0], b'', AT_FDCWD, b.encode(), AT_EMPTY_PATH))
            return os.link(a, b, follow_symlinks=False) or 0
        if name == 'rename': return os.rename(a, b) or 0
        if name == 'rename-noreplace':
            return checked(libc.renameat2(AT_FDCWD, a.encode(), AT_FDCWD, b.encode(), 1))
        if name == 'exchange':
            return checked(libc.renameat2(AT_FDCWD, a.encode(), AT_FDCWD, b.encode(), 2))
        if name == 'open':
            self.handles[a] = os.open(b, os.O_RDWR), b
            return 0
        if name == 'tmpfile':
            self.handles[a] = os.open(b or '.', os.O_TMPFILE | os.O_RDWR, 0o644), a
            return 0
        if name == 'close': return os.close(self.handle(a)[0]) or self.handles.pop(a) and 0
        if name == 'store': return self.store(a, b, args[2], version)
        if name == 'truncate': return self.on_file(a, os.O_WRONLY, lambda fd: os.ftruncate(fd, b) or 0)
        if name == 'fallocate':
            mode = ALLOCATIONS[b]
            return self.on_file(a, os.O_RDWR, lambda fd: checked(libc.fallocate(fd, mode, args[2], args[3])))
        if name == 'setxattr': return os.setxattr(a, b, args[2].encode('latin1')) or 0
        if name == 'removexattr': return os.removexattr(a, b) or 0
        if name == 'chmod': return os.chmod(a, b) or 0
        if name == 'chown': return os.chown(a, b, args[2]) or 0
        if name == 'fsync': return self.on_file(a, os.O_RDONLY, lambda fd: os.fsync(fd) or 0)
        if name == 'fdatasync': return self.on_file(a, os.O_RDONLY, lambda fd: os.fdatasync(fd) or 0)
        if name == 'msync': return self.msync(a, b, args[2])
        if name == 'sync-range':
            return self.on_file(a, os.O_RDWR, lambda fd: checked(libc.sync_file_range(fd, b, args[2], 7)))
        # A `sync` of the machine would wait for other file systems too.
        if name in ('sync', 'syncfs'):
            return self.on_file('', os.O_RDONLY | os.O_DIRECTORY, lambda fd: checked(libc.syncfs(fd)))
        raise ValueError(name)

    def end(self):
        for fd, _ in self.handles.values():
            os.close(fd)


def kind_of(mode):
    for kind, test in (('file', stat.S_ISREG), ('directory', stat.S_ISDIR), ('symlink', stat.S_ISLNK)):
        if test(mode):
            return kind
    return 'other'


def node(path):
    s = os.lstat(path)
    kind = kind_of(s.st_mode)
    data = b''
    if kind == 'file':
        with open(path, 'rb') as f:
            data = f.read()
    names = [] if kind == 'symlink' else [x for x in os.listxattr(path) if x.startswith('user.')]
    return {
        'ino': s.st_ino, 'kind': kind, 'mode': s.st_mode & 0o7777, 'uid': s.st_uid, 'gid': s.st_gid,
        'links': s.st_nlink, 'size': s.st_size, 'sectors': s.st_blocks,
        'target': os.readlink(path) if kind == 'symlink' else '',
        'attributes': {x: os.getxattr(path, x).decode('latin1') for x in names},
        'contents': base64.b64encode(zlib.compress(data, 1)).decode(),
    }


def tree(path, out):
    """All below a directory: paths with their nodes, links of one file with equal numbers."""
    out.append([path, node(path or '.')])
    for name in sorted(os.listdir(path or '.')):
        below = f'{path}/{name}' if path else name
        if stat.S_ISDIR(os.lstat(below).st_mode):
            tree(below, out)
        else:
            out.append([below, node(below)])
    return out


def extents(f):
    """Parts of an open file that are not holes, of 256 KiB at most."""
    found = []
    end = os.lseek(f.fileno(), 0, os.SEEK_END)
    at = 0
    while at < end:
        try:
            at = os.lseek(f.fileno(), at, os.SEEK_DATA)
        except OSError as e:
            if e.errno != errno.ENXIO:
                raise
            break
        stop = os.lseek(f.fileno(), at, os.SEEK_HOLE)
        while at < stop:
            found.append((at, min(stop, at + (1 << 18))))
            at = found[-1][1]
    return found


class Volume:
    def __init__(self, task):
        self.device, self.backing, self.place = task['device'], task['backing'], task['place']
        self.kind, self.options = task['fileSystem'], task['options']
        self.image = b''
        self.extents = []

    def mount(self):
        arguments = (self.device, self.place, self.kind)
        checked(libc.mount(*(x.encode() for x in arguments), 0, self.options.encode()))
        os.chdir(self.place)

    def unmount(self):
        os.chdir('/')
        checked(libc.umount2(self.place.encode(), 0))

    def cut(self):
        fd = os.open('.', os.O_RDONLY)
        fcntl.ioctl(fd, SHUTDOWN, struct.pack('i', WITHOUT_LOG))
        os.close(fd)

    def make_base(self, steps):
        self.mount()
        if os.path.exists('lost+found'):
            os.rmdir('lost+found')
        program = Program()
        for number, step in enumerate(steps):
            program.perform(step, number + 1)
        os.sync()
        self.unmount()
        with open(self.backing, 'rb') as f:
            self.image = f.read()
            self.extents = extents(f)

    def restore(self):
        """Writes what differs from the base state."""
        # An unmounted device has no pages of its own cached, so that the file behind it may be changed.
        with open(self.backing, 'r+b', buffering=0) as f:
            for start, stop in [*self.extents, *extents(f)]:
                wanted = self.image[start:stop]
                f.seek(start)
                if f.read(stop - start) != wanted:
                    f.seek(start)
                    f.write(wanted)

    def run(self, steps):
        self.restore()
        self.mount()
        program = Program()
        codes, sizes = [], []
        for number, step in enumerate(steps):
            done, code = 0, 'none'
            try:
                done = program.perform(step, 65536 + number + 1)
            except OSError as e:
                code = 'EOPNOTSUPP' if e.errno == errno.EOPNOTSUPP else errno.errorcode[e.errno]
            codes.append(code)
            sizes.append(done)
        self.cut()
        program.end()
        self.unmount()
        answer = {'codes': codes, 'bytes': sizes}
        try:
            self.mount()
        except OSError as e:
            return {**answer, 'error': f'mount after the cut: {e.strerror}'}
        try:
            return {**answer, 'tree': tree('', [])}
        except OSError as e:
            return {**answer, 'error': f'reading after the cut: {e}'}
        finally:
            self.unmount()


def main():
    os.umask(0)
    task = json.load(sys.stdin)
    volume = Volume(task)
    volume.make_base(task['base'])
    for steps in task['workloads']:
        print(json.dumps(volume.run(steps)), flush=True)


main()
