import { describe, expect, it } from 'vitest';
import {
  Condition,
  Delay,
  Mutex,
  type Process,
  ProcessGroup,
  runTask,
  SimulationError,
  Simulator,
  type Task,
  type Wait,
} from '../src/index.js';

function codeOf(action: () => unknown): { code: string; message: string } {
  try {
    action();
  } catch (error) {
    if (error instanceof SimulationError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('processes', () => {
  it('run in order of spawning and interleave at their delays', () => {
    const simulator = new Simulator();
    const log: string[] = [];
    function* body(name: string, ns: number): Task<void> {
      const delay = new Delay(simulator);
      for (let i = 0; i < 3; i++) {
        log.push(`${name}@${simulator.now}`);
        yield delay.for(ns);
      }
    }
    simulator.spawn('a', body('a', 10));
    simulator.spawn('b', body('b', 15));
    simulator.run();
    expect(log).toEqual(['a@0', 'b@0', 'a@10', 'b@15', 'a@20', 'b@30']);
    expect(simulator.now).toBe(45);
    expect(simulator.processes).toEqual({ spawned: 2, live: 0, ended: 2, failed: 0, abandoned: 0 });
  });

  it('are never resumed from inside another call: a notified process runs after the one that notified yields', () => {
    const simulator = new Simulator();
    const condition = new Condition(simulator, 'go');
    const log: string[] = [];
    function* waiter(): Task<void> {
      yield condition;
      log.push('waiter');
    }
    // biome-ignore lint/correctness/useYield: it ends without waiting.
    function* notifier(): Task<void> {
      condition.notifyAll();
      log.push('notifier goes on');
    }
    simulator.spawn('waiter', waiter());
    simulator.spawn('notifier', notifier());
    simulator.run();
    expect(log).toEqual(['notifier goes on', 'waiter']);
  });

  it('yield a process to join it, before or after its end, and read its value', () => {
    const simulator = new Simulator();
    const delay = new Delay(simulator);
    function* worker(): Task<number> {
      yield delay.for(5);
      return 42;
    }
    const process = simulator.spawn('worker', worker());
    const seen: unknown[] = [];
    function* joiner(): Task<void> {
      yield process;
      seen.push(process.value, simulator.now);
      yield process;
      seen.push(simulator.now);
    }
    simulator.spawn('joiner', joiner());
    simulator.run();
    expect(seen).toEqual([42, 5, 5]);
  });

  it('tryAdvance lets time pass only if nothing else could run meanwhile', () => {
    const simulator = new Simulator();
    const fired: number[] = [];
    simulator.at(100, { fire: () => fired.push(simulator.now) }, 0);
    const log: unknown[] = [];
    function* alone(): Task<void> {
      log.push(simulator.tryAdvance(99), simulator.now);
      log.push(simulator.tryAdvance(1), simulator.now); // the event at 100 was inserted earlier
      yield new Delay(simulator).for(1);
      log.push(fired.length, simulator.tryAdvance(50), simulator.now);
    }
    simulator.spawn('alone', alone());
    simulator.run();
    expect(log).toEqual([true, 99, false, 99, 1, true, 150]);
    // biome-ignore lint/correctness/useYield: it ends without waiting.
    function* first(): Task<void> {
      log.length = 0;
      log.push(simulator.tryAdvance(10));
    }
    // biome-ignore lint/correctness/useYield: it ends without waiting.
    function* second(): Task<void> {
      log.push(simulator.tryAdvance(10));
    }
    simulator.spawn('first', first());
    simulator.spawn('second', second());
    simulator.run();
    expect(log).toEqual([false, true]);
    expect(() => simulator.tryAdvance(-1)).toThrow(RangeError);
  });

  it('tryAdvance does not pass the limit of runUntil, and pump does not move the clock', () => {
    const simulator = new Simulator();
    const times: number[] = [];
    function* body(): Task<void> {
      const delay = new Delay(simulator);
      for (let i = 0; i < 4; i++) {
        yield delay.for(40);
        times.push(simulator.now);
      }
    }
    simulator.spawn('body', body());
    expect(simulator.pump()).toBe(40);
    expect(simulator.now).toBe(0);
    simulator.runUntil(100);
    expect(times).toEqual([40, 80]);
    expect(simulator.now).toBe(100);
    expect(simulator.pump()).toBe(120);
    simulator.runUntil(160);
    expect(times).toEqual([40, 80, 120, 160]);
    expect(simulator.pump()).toBe(Number.POSITIVE_INFINITY);
  });

  it('run(until) returns at its end and leaves the others suspended; run() leaves daemons', () => {
    const simulator = new Simulator();
    let ticks = 0;
    function* daemon(): Task<void> {
      const delay = new Delay(simulator);
      for (;;) {
        yield delay.for(10);
        ticks++;
      }
    }
    function* once(ns: number): Task<void> {
      yield new Delay(simulator).for(ns);
    }
    simulator.spawn('daemon', daemon(), { daemon: true });
    const short = simulator.spawn('short', once(25));
    const long = simulator.spawn('long', once(95));
    simulator.run(short);
    expect([simulator.now, ticks, long.state]).toEqual([25, 2, 'waiting']);
    simulator.run();
    expect([simulator.now, ticks]).toEqual([95, 9]);
  });

  it('stop ends a run after the event that calls it', () => {
    const simulator = new Simulator();
    simulator.at(10, { fire: () => simulator.stop() }, 0);
    simulator.at(10, { fire: () => {} }, 0);
    simulator.drain();
    expect([simulator.now, simulator.pendingEvents]).toEqual([10, 1]);
    simulator.drain();
    expect(simulator.pendingEvents).toBe(0);
  });

  it('throws what a process throws out of run, unless it is observed', () => {
    const simulator = new Simulator();
    const broken = new Error('broken');
    // biome-ignore lint/correctness/useYield: a task may fail before it waits.
    function* failing(): Task<void> {
      throw broken;
    }
    simulator.spawn('failing', failing());
    expect(() => simulator.run()).toThrow(broken);
    const observed = simulator.spawn('observed', failing(), { observed: true });
    simulator.run();
    expect([observed.state, observed.error]).toEqual(['failed', broken]);
    expect(() => runTask(simulator, failing())).toThrow(broken);
    expect(simulator.processes).toEqual({ spawned: 3, live: 0, ended: 0, failed: 3, abandoned: 0 });
  });

  it('refuses to run from inside a process', () => {
    const simulator = new Simulator();
    // biome-ignore lint/correctness/useYield: it must not get as far.
    function* body(): Task<void> {
      simulator.run();
    }
    expect(codeOf(() => runTask(simulator, body())).code).toBe('ERR_SIM_REENTRANT');
  });

  it('runTask returns the value; locks and daemons work as always', () => {
    const simulator = new Simulator();
    const mutex = new Mutex(simulator, 'm');
    const log: string[] = [];
    function* user(name: string): Task<string> {
      yield mutex;
      log.push(`${name}@${simulator.now}`);
      yield new Delay(simulator).for(7);
      mutex.unlock();
      return name;
    }
    simulator.spawn('daemon', user('daemon'), { daemon: true });
    expect(runTask(simulator, user('task'))).toBe('task');
    expect(log).toEqual(['daemon@0', 'task@7']);
  });
});

describe('cancellation', () => {
  it('resumes a process early from a delay, a condition and a join, and leaves locks alone', () => {
    const simulator = new Simulator();
    const condition = new Condition(simulator, 'never');
    const mutex = new Mutex(simulator, 'm');
    const log: string[] = [];
    function* waitOn(name: string, wait: () => Wait): Task<void> {
      const self = simulator.current as Process;
      yield wait();
      log.push(`${name}@${simulator.now} ${self.cancelRequested}`);
    }
    function* sleeper(): Task<void> {
      yield new Delay(simulator).for(1000);
    }
    const long = simulator.spawn('long', sleeper());
    const waits: Process[] = [
      simulator.spawn(
        'delay',
        waitOn('delay', () => new Delay(simulator).for(500)),
      ),
      simulator.spawn(
        'condition',
        waitOn('condition', () => condition),
      ),
      simulator.spawn(
        'within',
        waitOn('within', () => condition.within(300)),
      ),
      simulator.spawn(
        'join',
        waitOn('join', () => long),
      ),
      simulator.spawn(
        'mutex',
        waitOn('mutex', () => mutex),
      ),
    ];
    function* boss(): Task<void> {
      mutex.tryLock();
      yield new Delay(simulator).for(10);
      for (const process of waits) process.cancel();
      yield new Delay(simulator).for(10);
      mutex.unlock();
    }
    const bossProcess = simulator.spawn('boss', boss());
    // The boss must hold the lock before the others ask for it.
    expect(bossProcess.state).toBe('ready');
    mutex.tryLock();
    simulator.run();
    expect(log).toEqual(['delay@10 true', 'condition@10 true', 'within@10 true', 'join@10 true', 'mutex@20 true']);
    expect(condition.awaited).toBe(false);
    expect(mutex.locked).toBe(true); // handed to the cancelled waiter, which ended with it
    expect(simulator.now).toBe(1000);
  });

  it('does nothing to a process that has ended, and a stale timer does not wake a later wait', () => {
    const simulator = new Simulator();
    const delay = new Delay(simulator);
    const log: number[] = [];
    function* body(): Task<void> {
      yield delay.for(100);
      log.push(simulator.now);
      yield delay.for(200);
      log.push(simulator.now);
    }
    const process = simulator.spawn('body', body());
    simulator.runUntil(50);
    process.cancel();
    simulator.run();
    expect(log).toEqual([50, 250]);
    process.cancel();
    expect(process.state).toBe('ended');
  });
});

describe('stalls are errors that name each process and what it waits on', () => {
  it('an empty queue with waiters', () => {
    const simulator = new Simulator();
    const a = new Mutex(simulator, 'inode a');
    const b = new Mutex(simulator, 'inode b');
    function* lockBoth(first: Mutex, second: Mutex): Task<void> {
      yield first;
      yield new Delay(simulator).for(10);
      yield second;
    }
    simulator.spawn('one', lockBoth(a, b));
    simulator.spawn('two', lockBoth(b, a));
    const { code, message } = codeOf(() => simulator.run());
    expect(code).toBe('ERR_SIM_STALLED');
    expect(message).toContain('process "one" (simulator): waits for mutex "inode b", held by "two"');
    expect(message).toContain('process "two" (simulator): waits for mutex "inode a", held by "one"');
  });

  it('also in drain and for one process; daemons may wait for ever', () => {
    const simulator = new Simulator();
    const condition = new Condition(simulator, 'work');
    function* body(): Task<void> {
      yield condition;
    }
    simulator.spawn('daemon', body(), { daemon: true });
    simulator.drain();
    const process = simulator.spawn('client', body());
    expect(codeOf(() => simulator.drain()).code).toBe('ERR_SIM_STALLED');
    expect(codeOf(() => simulator.run(process)).message).toContain('"client" (simulator): waits for condition "work"');
  });

  it('only daemon timers for an hour of simulated time', () => {
    const simulator = new Simulator();
    const condition = new Condition(simulator, 'never');
    let ticks = 0;
    function* daemon(): Task<void> {
      const delay = new Delay(simulator);
      for (;;) {
        yield delay.for(5_000_000_000);
        ticks++;
      }
    }
    function* client(): Task<void> {
      yield condition;
    }
    simulator.spawn('commit', daemon(), { daemon: true });
    simulator.spawn('client', client());
    const { code, message } = codeOf(() => simulator.run());
    expect(code).toBe('ERR_SIM_STALLED');
    expect(message).toContain('process "client"');
    expect(message).toContain('condition "never"');
    expect(simulator.now).toBeGreaterThanOrEqual(3_600_000_000_000);
    expect(simulator.now).toBeLessThan(3_620_000_000_000);
    expect(ticks).toBeGreaterThan(700);
  });

  it('but neither a long sleep nor events of a device count as a stall', () => {
    const simulator = new Simulator();
    const condition = new Condition(simulator, 'device');
    function* daemon(): Task<void> {
      const delay = new Delay(simulator);
      for (;;) yield delay.for(60_000_000_000);
    }
    function* sleeper(): Task<void> {
      yield new Delay(simulator).for(4 * 3_600_000_000_000);
    }
    function* client(): Task<void> {
      yield condition;
    }
    simulator.spawn('daemon', daemon(), { daemon: true });
    simulator.spawn('sleeper', sleeper());
    simulator.run();
    simulator.spawn('client', client());
    const start = simulator.now;
    const device = {
      fire(left: number): void {
        if (left === 0) condition.notifyAll();
        else simulator.after(1_800_000_000_000, device, left - 1);
      },
    };
    simulator.after(0, device, 6);
    simulator.run();
    expect(simulator.now - start).toBe(6 * 1_800_000_000_000);
  });

  it('a million resumptions at one instant', () => {
    const simulator = new Simulator();
    const mutex = new Mutex(simulator, 'baton');
    let turns = 0;
    function* spin(): Task<void> {
      for (;;) {
        yield mutex;
        turns++;
        yield new Delay(simulator).for(0);
        mutex.unlock();
      }
    }
    simulator.spawn('left', spin());
    simulator.spawn('right', spin());
    const { code, message } = codeOf(() => simulator.run());
    expect(code).toBe('ERR_SIM_LIVELOCK');
    expect(message).toContain('process "left"');
    expect(message).toContain('process "right"');
    expect(turns).toBeGreaterThan(300_000);
  });

  it('a process that yields satisfied waits only', () => {
    const simulator = new Simulator();
    function* spin(): Task<void> {
      const delay = new Delay(simulator);
      for (;;) yield delay.for(0);
    }
    simulator.spawn('lone', spin());
    expect(codeOf(() => simulator.run()).code).toBe('ERR_SIM_LIVELOCK');
  });

  it('events that only schedule each other at one instant', () => {
    const simulator = new Simulator({ livelockEvents: 1000 });
    const loop = { fire: (arg: number): void => simulator.after(0, loop, arg) };
    simulator.at(5, loop, 0);
    const { code, message } = codeOf(() => simulator.drain());
    expect(code).toBe('ERR_SIM_LIVELOCK');
    expect(message).toContain('1000 events at 5 ns');
    const many = new Simulator({ livelockEvents: 1000 });
    for (let i = 0; i < 5000; i++) many.at(Math.floor(i / 1000), { fire() {} }, 0);
    many.drain();
    expect(many.events).toBe(5000);
    expect(() => new Simulator({ stallNs: 0 })).toThrow(/stallNs must be an integer ≥ 1, found 0/);
  });

  it('progress on a device that takes no time is no livelock', () => {
    const simulator = new Simulator({ livelockResumptions: 1000 });
    function* busy(): Task<number> {
      const delay = new Delay(simulator);
      let rounds = 0;
      for (; rounds < 5000; rounds++) {
        simulator.noteProgress();
        yield delay.for(0);
      }
      return rounds;
    }
    simulator.spawn('other', busy());
    expect(runTask(simulator, busy())).toBe(5000);
  });
});

describe('power cut', () => {
  it('drops suspended processes with no finally, ignores stale events, and a second host goes on', () => {
    const simulator = new Simulator();
    const host = new ProcessGroup('host');
    const other = new ProcessGroup('other');
    const log: string[] = [];
    const shared = new Mutex(simulator, 'shared');
    function* victim(wait: () => Wait): Task<void> {
      try {
        yield wait();
        log.push('victim ran');
      } finally {
        log.push('finally ran');
      }
    }
    const delay = new Delay(simulator);
    const condition = new Condition(simulator, 'c');
    const victims: Process[] = [];
    for (let i = 0; i < 5; i++) {
      victims.push(
        simulator.spawn(
          `sleeper ${i}`,
          victim(() => new Delay(simulator).for(100 + i)),
          { group: host },
        ),
      );
      victims.push(
        simulator.spawn(
          `waiter ${i}`,
          victim(() => condition),
          { group: host },
        ),
      );
      victims.push(
        simulator.spawn(
          `locker ${i}`,
          victim(() => shared),
          { group: host },
        ),
      );
    }
    function* second(): Task<number> {
      yield delay.for(50);
      simulator.abandon(host);
      condition.notifyAll(); // stale wake-ups
      shared.unlock(); // must not be handed to the dead
      yield shared;
      yield delay.for(500);
      return simulator.now;
    }
    function* joiner(): Task<string> {
      yield victims[0];
      return `${victims[0].state}@${simulator.now}`;
    }
    shared.tryLock();
    const survivor = simulator.spawn('second', second(), { group: other });
    const joined = simulator.spawn('joiner', joiner(), { group: other });
    simulator.run();
    expect(log).toEqual([]);
    expect(survivor.value).toBe(550);
    expect(joined.value).toBe('abandoned@50');
    expect(victims.every((process) => process.state === 'abandoned')).toBe(true);
    expect(simulator.processes).toEqual({ spawned: 17, live: 0, ended: 2, failed: 0, abandoned: 15 });
    expect(
      codeOf(() =>
        simulator.spawn(
          'late',
          victim(() => condition),
          { group: host },
        ),
      ).code,
    ).toBe('ERR_SIM_ABANDONED');
    expect(codeOf(() => simulator.run(victims[0])).code).toBe('ERR_SIM_ABANDONED');
  });

  it('may come from inside the group: the process runs to its next yield only', () => {
    const simulator = new Simulator();
    const host = new ProcessGroup('host');
    const log: string[] = [];
    function* body(): Task<void> {
      simulator.abandon(host);
      log.push('last words');
      yield new Delay(simulator).for(1);
      log.push('resurrected');
    }
    // biome-ignore lint/correctness/useYield: it ends without waiting.
    function* ready(): Task<void> {
      log.push('ready ran');
    }
    simulator.spawn('body', body(), { group: host });
    simulator.spawn('ready', ready(), { group: host });
    simulator.run();
    simulator.drain();
    expect(log).toEqual(['last words']);
    expect(simulator.processes).toEqual({ spawned: 2, live: 0, ended: 0, failed: 0, abandoned: 2 });
  });
});
