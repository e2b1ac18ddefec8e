# Runs traces of system calls in directories of their own, and prints results and final trees as JSON.
import ctypes, errno, json, os, stat, sys

libc = ctypes.CDLL(None, use_errno=True)
libc.renameat2.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]


def fallocate(fd, mode, offset, length):
    if libc.fallocate(fd, mode, offset, length) != 0:
        raise OSError(ctypes.get_errno(), 'fallocate')
    return 0


def rename(a, b, flags):
    if libc.renameat2(-100, os.fsencode(a), -100, os.fsencode(b), flags) != 0:
        raise OSError(ctypes.get_errno(), 'renameat2')
    return 0


def describe(s):
    size = 0 if stat.S_ISDIR(s.st_mode) else s.st_size
    links = s.st_nlink
    return f'{s.st_mode:o} {links} {s.st_uid}:{s.st_gid} {size}'


def call(fds, name, a, b, c, d):
    if name == 'open':
        fd = os.open(a, c, 0o666)
        os.close(fds[b]) if fds[b] is not None else None
        fds[b] = fd
        return 0
    if name in ('write', 'pwrite', 'pread', 'ftruncate', 'fallocate', 'fsync', 'lseek', 'fstat', 'close'):
        fd = fds[a]
        if fd is None:
            raise OSError(errno.EBADF, name)
        if name == 'write': return os.write(fd, b.encode('latin1') * c)
        if name == 'pwrite': return os.pwrite(fd, b.encode('latin1') * c, d)
        if name == 'pread': return os.pread(fd, c, d).decode('latin1')
        if name == 'ftruncate': return os.ftruncate(fd, c) or 0
        if name == 'fallocate': return fallocate(fd, b, c, d)
        if name == 'fsync': return os.fsync(fd) or 0
        if name == 'lseek': return os.lseek(fd, c, b)
        if name == 'fstat': return describe(os.fstat(fd))
        fds[a] = None
        return os.close(fd) or 0
    if name == 'mkdir': return os.mkdir(a, b) or 0
    if name == 'rmdir': return os.rmdir(a) or 0
    if name == 'unlink': return os.unlink(a) or 0
    if name == 'rename': return rename(a, b, c)
    if name == 'link': return os.link(a, b, follow_symlinks=False) or 0
    if name == 'symlink': return os.symlink(a, b) or 0
    if name == 'readlink': return os.readlink(a)
    if name == 'chmod': return os.chmod(a, b) or 0
    if name == 'chown': return os.chown(a, b, c) or 0
    if name == 'truncate': return os.truncate(a, b) or 0
    if name == 'stat': return describe(os.stat(a))
    if name == 'lstat': return describe(os.lstat(a))
    if name == 'list': return ','.join(sorted(os.listdir(a)))
    if name == 'setxattr': return os.setxattr(a, b, c.encode('latin1')) or 0
    if name == 'getxattr': return os.getxattr(a, b).decode('latin1')
    if name == 'removexattr': return os.removexattr(a, b) or 0
    if name == 'listxattr': return ','.join(sorted(os.listxattr(a)))
    raise ValueError(name)


def tree(path, numbers, out):
    for name in sorted(os.listdir(path)):
        below = name if path == '.' else f'{path}/{name}'
        s = os.lstat(below)
        line = f'{below} #{numbers.setdefault(s.st_ino, len(numbers))} {describe(s)}'
        if stat.S_ISREG(s.st_mode):
            with open(below, 'rb') as f:
                line += ' ' + f.read().hex()
        if stat.S_ISLNK(s.st_mode):
            line += ' -> ' + os.readlink(below)
        else:
            line += ' ' + ','.join(f'{x}={os.getxattr(below, x).decode("latin1")}' for x in sorted(os.listxattr(below)))
        out.append(line)
        if stat.S_ISDIR(s.st_mode):
            tree(below, numbers, out)


os.umask(0)
os.chdir(sys.argv[1])
answers = []
for number, trace in enumerate(json.load(sys.stdin)):
    os.mkdir(f'{sys.argv[2]}-{number}', 0o755)
    os.chdir(f'{sys.argv[2]}-{number}')
    fds = [None] * 3
    results = []
    for name, a, b, c, d in trace:
        try:
            results.append(call(fds, name, a, b, c, d))
        except OSError as e:
            results.append('EOPNOTSUPP' if e.errno == errno.EOPNOTSUPP else errno.errorcode[e.errno])
    lines = []
    tree('.', {}, lines)
    for fd in fds:
        if fd is not None:
            os.close(fd)
    os.chdir('..')
    answers.append({'results': results, 'tree': lines})
json.dump(answers, sys.stdout)
