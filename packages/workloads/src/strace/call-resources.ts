import { annotation, descriptorOf, hasFlag, textOf } from './arguments.js';
import { ResourceOrder } from './resource-order.js';
import { EXITED, type SystemTrace, type TracedCall } from './system-trace.js';
import { collapsed, joined, type TraceRoot } from './trace-root.js';
import { parentOf, TracedNames } from './traced-names.js';
import { FORKS, sharesTable } from './traced-threads.js';

/** What a descriptor's number stands for: an open file description, which copies share. */
interface Description {
  /** Shared by copies. */
  readonly cursor: number;
  /** Number of the file, −1 outside the root. */
  readonly file: number;
  path: string;
}

/** A process of the trace as far as its calls name files. */
interface Table {
  readonly number: number;
  readonly descriptors: Map<number, Description>;
  /** Files of shared mappings that could be written to. */
  readonly mapped: Set<number>;
  directory: string;
}

/** Positions of the directory (−1: none) and the path of calls that change a name. */
const changedNames: Readonly<Record<string, readonly (readonly [number, number])[]>> = {
  mkdir: [[-1, 0]],
  mkdirat: [[0, 1]],
  rmdir: [[-1, 0]],
  unlink: [[-1, 0]],
  unlinkat: [[0, 1]],
  mknod: [[-1, 0]],
  mknodat: [[0, 1]],
  symlink: [[-1, 1]],
  symlinkat: [[1, 2]],
  link: [[-1, 1]],
  linkat: [[2, 3]],
  rename: [
    [-1, 0],
    [-1, 1],
  ],
  renameat: [
    [0, 1],
    [2, 3],
  ],
  renameat2: [
    [0, 1],
    [2, 3],
  ],
};
/** Calls on a path that change the file itself. */
const CHANGES_FILE = /^(?:truncate|chmod|fchmodat|l?chown|fchownat|utimensat|setxattr|removexattr)$/;
/** Calls on a descriptor that move its cursor, and those that change the file. */
const MOVES = /^(?:readv?|writev?|lseek|getdents(?:64)?|sendfile|copy_file_range|p(?:read|write)v2?)$/;
const CHANGES_OPEN = /^(?:writev?|pwrite64|pwritev2?|ftruncate|fallocate|fchmod|fchown)$/;
const LISTS = /^(?:getdents(?:64)?|fsync|fdatasync)$/;
/** Their texts are contents. */
const NAMES_NOTHING = /^(?:p?(?:read|write)(?:v2?|64)?|getdents(?:64)?|getrandom|uname|prctl|(?:send|recv)\w*)$/;
const OPENS = /^(?:open|openat|creat)$/;

/**
 * What the calls of a trace must wait for if each thread replays on its own: calls of different threads keep the order of
 * the trace where they share a descriptor's number, a cursor, a file, a name or a directory above it, a listing, or a
 * working directory, and where one makes or awaits the other.
 */
export class CallResources {
  private readonly trace: SystemTrace;
  private readonly root: TraceRoot;
  private readonly start: string;
  private readonly order: ResourceOrder;
  private readonly names = new TracedNames();
  private readonly tables = new Map<number, Table>();
  private count = 0;
  /** The event whose accesses are being told, and its thread. */
  private event = 0;
  private thread = 0;

  /** `directory`: where threads work at first. */
  constructor(trace: SystemTrace, root: TraceRoot, directory: string) {
    this.trace = trace;
    this.root = root;
    this.start = directory;
    this.order = new ResourceOrder(trace.calls.length);
  }

  /** By event as in `SystemTrace.order`: the events that it has to wait for. */
  waits(): readonly (readonly number[] | undefined)[] {
    const { calls, order } = this.trace;
    for (const event of order) {
      const call = calls[event >> 1];
      this.event = event;
      this.thread = call.pid;
      if ((event & 1) === 0) this.begins(call, this.tableOf(call.pid));
      else {
        this.ends(call, this.tableOf(call.pid));
        this.order.ended(event >> 1);
      }
    }
    return this.order.waits;
  }

  private tableOf(pid: number): Table {
    let found = this.tables.get(pid);
    if (found === undefined) {
      found = { number: this.count++, descriptors: new Map(), mapped: new Set(), directory: this.start };
      this.tables.set(pid, found);
    }
    return found;
  }

  private use(kind: string, resource: number | string): void {
    this.order.use(kind + resource, this.event, this.thread);
  }

  private change(kind: string, resource: number | string): void {
    this.order.change(kind + resource, this.event, this.thread);
  }

  private begins(call: TracedCall, table: Table): void {
    const { name } = call;
    // A sync is about all that was changed before.
    if (name === 'sync' || name === 'syncfs') this.change('all', '');
    else this.use('all', '');
    if (FORKS.includes(name) && call.result > 0) this.forks(call, table);
    else if (name === EXITED) this.change('thread', call.pid);
    else if (name === 'execve' || name === 'close_range') this.change('table', table.number);
    else if (/^(?:chdir|fchdir|getcwd|umask)$/.test(name)) this.change('work', table.number);
    this.attach(call, table);
    this.paths(call, table);
    if (call.error === '') this.numbers(call, table);
    if (/^(?:chdir|fchdir|getcwd)$/.test(name) && call.error === '') this.moves(call, table);
  }

  /** The child's calls come after this one; its descriptors are those of now. */
  private forks(call: TracedCall, table: Table): void {
    this.change('table', table.number);
    this.use('work', table.number);
    if (sharesTable(call)) {
      this.tables.set(call.result, table);
      return;
    }
    const descriptors = new Map(table.descriptors);
    this.tables.set(call.result, { ...table, number: this.count++, descriptors, mapped: new Set() });
  }

  /** Files that were open before the trace, as `-y` tells. */
  private attach(call: TracedCall, table: Table): void {
    for (const argument of call.arguments) {
      const path = argument.includes('</') ? annotation(argument) : '';
      if (path === '') continue;
      const fd = descriptorOf(argument);
      if (Number.isNaN(fd)) table.directory = path;
      else if (!table.descriptors.has(fd)) {
        this.change('number', `${table.number}.${fd}`);
        table.descriptors.set(fd, this.described(path));
      }
    }
  }

  private described(path: string): Description {
    const inside = path !== '' && this.root.contains(path);
    return { cursor: this.count++, file: inside ? this.names.file(collapsed(path)) : -1, path };
  }

  private paths(call: TracedCall, table: Table): void {
    const changed = changedNames[call.name] ?? [];
    if (NAMES_NOTHING.test(call.name)) return;
    let named = false;
    for (const [position, argument] of call.arguments.entries()) {
      const text = textOf(argument);
      if (text === null) continue;
      const change = changed.find(([, path]) => path === position);
      const opens = OPENS.test(call.name);
      const at = change?.[0] ?? (position > 0 && /at2?$|at64$|^statx$/.test(call.name) ? position - 1 : -1);
      const path = this.absolute(call, table, at, text);
      if (path === '' || !this.root.contains(path)) continue;
      named = true;
      const whole = collapsed(path);
      const creates = opens && (call.name === 'creat' || /O_(?:CREAT|TMPFILE)/.test(call.arguments.join()));
      if (call.error === '' && (change !== undefined || creates)) this.changesName(whole);
      else this.looksUp(whole);
      const truncates = opens && (call.name === 'creat' || /O_TRUNC/.test(call.arguments.join()));
      if (CHANGES_FILE.test(call.name) || truncates) this.change('file', this.names.file(whole));
      else if (!opens && change === undefined) this.use('file', this.names.file(whole));
    }
    if (named) this.use('work', table.number);
  }

  private absolute(call: TracedCall, table: Table, at: number, text: string): string {
    if (text.startsWith('/')) return text;
    const argument = at < 0 ? 'AT_FDCWD' : (call.arguments[at] ?? '');
    if (argument.startsWith('AT_FDCWD')) return joined(table.directory, text);
    const directory = table.descriptors.get(descriptorOf(argument))?.path ?? annotation(argument);
    return directory === '' ? '' : joined(directory, text);
  }

  private looksUp(path: string): void {
    const real = this.names.followed(path);
    this.usesNames(path, true);
    if (real !== path) this.usesNames(real, true);
  }

  private changesName(path: string): void {
    const directory = this.names.followed(parentOf(path));
    const real = joined(directory, path.slice(path.lastIndexOf('/') + 1));
    for (const name of real === path ? [path] : [path, real]) {
      this.usesNames(name, false);
      this.change('name', name);
    }
    // Changes of entries are in any order, but all of them come before or after a listing.
    this.use('list', this.names.file(directory));
  }

  /** A name below the root and those above it. */
  private usesNames(path: string, itself: boolean): void {
    if (itself) this.use('name', path);
    for (let at = parentOf(path); at !== '/' && this.root.contains(at); at = parentOf(at)) this.use('name', at);
  }

  /** What a call does with descriptors that it names. */
  private numbers(call: TracedCall, table: Table): void {
    const { name, arguments: args } = call;
    const second = name === 'sendfile' ? 1 : name === 'copy_file_range' ? 2 : name === 'mmap' ? 4 : -1;
    for (const position of second < 0 ? [0] : name === 'mmap' ? [4] : [0, second]) {
      const fd = descriptorOf(args[position]);
      if (Number.isNaN(fd)) continue;
      this.use('table', table.number);
      const found = table.descriptors.get(fd);
      if (name === 'close') {
        this.change('number', `${table.number}.${fd}`);
        table.descriptors.delete(fd);
        continue;
      }
      this.use('number', `${table.number}.${fd}`);
      if (found !== undefined && found.file >= 0) this.onFile(call, table, found, position, second);
    }
    if (name === 'msync' || name === 'munmap') {
      this.change('map', table.number);
      for (const file of table.mapped) this.change('file', file);
    }
  }

  private onFile(call: TracedCall, table: Table, found: Description, position: number, second: number): void {
    const { name, arguments: args } = call;
    if (MOVES.test(name)) this.change('cursor', found.cursor);
    if (LISTS.test(name)) this.change('list', found.file);
    const written = name === 'mmap' && hasFlag(args[2], 'PROT_WRITE') && /MAP_SHARED/.test(args[3] ?? '');
    const target = (name === 'sendfile' && position === 0) || (name === 'copy_file_range' && position === second);
    if (CHANGES_OPEN.test(name) || target || written) this.change('file', found.file);
    else this.use('file', found.file);
    if (!written) return;
    this.change('map', table.number);
    table.mapped.add(found.file);
  }

  private moves(call: TracedCall, table: Table): void {
    const text = textOf(call.arguments[0]);
    const path =
      text === null
        ? (table.descriptors.get(descriptorOf(call.arguments[0]))?.path ?? '')
        : joined(table.directory, text);
    if (path !== '') table.directory = path;
  }

  /** What holds once a call has ended: names, and what numbers stand for. */
  private ends(call: TracedCall, table: Table): void {
    const { name, arguments: args, result, error } = call;
    if (error !== '' || Number.isNaN(result)) return;
    for (const [fd, description] of this.assigned(call, table)) {
      this.use('table', table.number);
      this.change('number', `${table.number}.${fd}`);
      table.descriptors.set(fd, description);
    }
    if (name === 'wait4' && result > 0) this.use('thread', result);
    const changed = changedNames[name];
    if (changed !== undefined) {
      const [from, to] = changed.map(([at, path]) =>
        collapsed(this.absolute(call, table, at, textOf(args[path]) ?? '')),
      );
      if (/^(?:unlink|unlinkat|rmdir)$/.test(name)) this.names.removed(from);
      else if (name.startsWith('rename')) this.renamed(from, to, /RENAME_EXCHANGE/.test(args.join()));
      else if (name.startsWith('symlink')) this.names.symlink(textOf(args[0]) ?? '', from);
      else if (name.startsWith('link')) this.names.link(this.source(call, table), from);
    } else if (name === 'execve') {
      table.mapped.clear();
    }
  }

  /** What is open or worked in moves along. */
  private renamed(from: string, to: string, exchange: boolean): void {
    this.names.renamed(from, to, exchange);
    const moved = (path: string): string => {
      if (path === from || path.startsWith(`${from}/`)) return to + path.slice(from.length);
      if (exchange && (path === to || path.startsWith(`${to}/`))) return from + path.slice(to.length);
      return path;
    };
    const seen = new Set<Description>();
    for (const table of this.tables.values()) {
      table.directory = moved(table.directory);
      for (const description of table.descriptors.values()) {
        if (!seen.has(description)) description.path = moved(description.path);
        seen.add(description);
      }
    }
  }

  /** The old name of a link. */
  private source(call: TracedCall, table: Table): string {
    const [at, path] = call.name === 'link' ? [-1, 0] : [0, 1];
    return collapsed(this.absolute(call, table, at, textOf(call.arguments[path]) ?? ''));
  }

  /** Numbers that a call has given out, and what they stand for. */
  private assigned(call: TracedCall, table: Table): [number, Description][] {
    const { name, arguments: args, result } = call;
    if (OPENS.test(name)) {
      const [at, path] = name === 'openat' ? [0, 1] : [-1, 0];
      return [[result, this.described(this.absolute(call, table, at, textOf(args[path]) ?? ''))]];
    }
    if (/^(?:dup[23]?)$/.test(name) || (name.startsWith('fcntl') && args[1]?.startsWith('F_DUPFD'))) {
      return [[result, table.descriptors.get(descriptorOf(args[0])) ?? this.described('')]];
    }
    const pair = /^(?:pipe2?|socketpair)$/.test(name) ? /\[(\d+)(?:<[^\]]*>)?, (\d+)/.exec(args.join()) : null;
    if (pair !== null) {
      return [
        [Number(pair[1]), this.described('')],
        [Number(pair[2]), this.described('')],
      ];
    }
    return PRODUCES.test(name) ? [[result, this.described('')]] : [];
  }
}

/** Calls whose result is a descriptor that is no file. */
const PRODUCES =
  /^(?:socket|accept4?|epoll_create1?|eventfd2?|signalfd4?|timerfd_create|inotify_init1?|memfd_create|pidfd_open|io_uring_setup|perf_event_open|userfaultfd|fanotify_init|mq_open|memfd_secret)$/;
