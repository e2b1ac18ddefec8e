import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Condition, Delay, Mutex, RwLock, Semaphore, SimulationError, Simulator, type Task } from '../src/index.js';

const full = process.env.CI !== undefined;

describe('mutex', () => {
  it('excludes and hands over in order of arrival', () => {
    const simulator = new Simulator();
    const mutex = new Mutex(simulator, 'm');
    const order: number[] = [];
    let inside = 0;
    function* body(id: number): Task<void> {
      const delay = new Delay(simulator);
      for (let round = 0; round < 3; round++) {
        if (!mutex.tryLock()) yield mutex;
        expect(++inside).toBe(1);
        order.push(id);
        yield delay.for(10);
        inside--;
        mutex.unlock();
      }
    }
    for (let id = 0; id < 4; id++) simulator.spawn(`p${id}`, body(id));
    simulator.run();
    expect(order).toEqual([0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]);
    expect(mutex.locked).toBe(false);
    expect(() => mutex.unlock()).toThrow(SimulationError);
  });
});

describe('read-write lock', () => {
  it('a waiting writer holds back new readers', () => {
    const simulator = new Simulator();
    const lock = new RwLock(simulator, 'tree');
    const log: string[] = [];
    function* reader(name: string, start: number, hold: number): Task<void> {
      const delay = new Delay(simulator);
      yield delay.for(start);
      if (!lock.tryRead()) yield lock.read;
      log.push(`${name}+${simulator.now}`);
      yield delay.for(hold);
      log.push(`${name}-${simulator.now}`);
      lock.unlockRead();
    }
    function* writer(start: number): Task<void> {
      const delay = new Delay(simulator);
      yield delay.for(start);
      if (!lock.tryWrite()) yield lock.write;
      log.push(`w+${simulator.now}`);
      yield delay.for(10);
      log.push(`w-${simulator.now}`);
      lock.unlockWrite();
    }
    simulator.spawn('r1', reader('r1', 1, 20));
    simulator.spawn('w', writer(5));
    simulator.spawn('r2', reader('r2', 6, 20));
    simulator.spawn('r3', reader('r3', 7, 20));
    simulator.run();
    expect(log).toEqual(['r1+1', 'r1-21', 'w+21', 'w-31', 'r2+31', 'r3+31', 'r2-51', 'r3-51']);
    expect(() => lock.unlockRead()).toThrow(/no reader/);
    expect(() => lock.unlockWrite()).toThrow(/no writer/);
  });

  it('keeps its invariant and lets everyone in, in order of arrival, under random use', () => {
    const use = fc.record({ write: fc.boolean(), start: fc.nat(50), hold: fc.nat(20) });
    fc.assert(
      fc.property(fc.array(use, { maxLength: 40 }), (uses) => {
        const simulator = new Simulator();
        const lock = new RwLock(simulator, 'l');
        let readers = 0;
        let writers = 0;
        const arrived: number[] = [];
        const admitted: number[] = [];
        function* body(id: number): Task<void> {
          const { write, start, hold } = uses[id];
          const delay = new Delay(simulator);
          yield delay.for(start + 1);
          arrived.push(id);
          if (!(write ? lock.tryWrite() : lock.tryRead())) yield write ? lock.write : lock.read;
          admitted.push(id);
          if (write) writers++;
          else readers++;
          if (writers > 1 || (writers === 1 && readers > 0)) throw new Error('not exclusive');
          yield delay.for(hold);
          if (write) {
            writers--;
            lock.unlockWrite();
          } else {
            readers--;
            lock.unlockRead();
          }
        }
        uses.forEach((_, id) => {
          simulator.spawn(`p${id}`, body(id));
        });
        simulator.run();
        expect(admitted).toEqual(arrived);
        expect([lock.readers, lock.writeLocked]).toEqual([0, false]);
      }),
      { numRuns: full ? 1000 : 100 },
    );
  });
});

describe('semaphore', () => {
  it('never gives more than it has; a large request holds back later small ones', () => {
    const simulator = new Simulator();
    const tags = new Semaphore('tags', 3);
    const log: string[] = [];
    let held = 0;
    function* user(name: string, units: number, hold: number): Task<void> {
      if (!tags.tryTake(units)) yield tags.take(units);
      held += units;
      expect(held).toBeLessThanOrEqual(3);
      log.push(`${name}@${simulator.now}`);
      yield new Delay(simulator).for(hold);
      held -= units;
      tags.give(units);
    }
    simulator.spawn('a', user('a', 2, 10));
    simulator.spawn('b', user('b', 3, 5));
    simulator.spawn('c', user('c', 1, 1));
    simulator.spawn('d', user('d', 1, 1));
    simulator.run();
    expect(log).toEqual(['a@0', 'b@10', 'c@15', 'd@15']);
    expect(tags.available).toBe(3);
    expect(() => tags.give(1)).toThrow(/more units given back/);
    expect(() => tags.tryTake(4)).toThrow(/from 1 to 3, found 4/);
    expect(() => new Semaphore('none', 0)).toThrow(RangeError);
  });
});

describe('condition', () => {
  it('within: a notification in time, or the time limit, and nothing left behind', () => {
    const simulator = new Simulator();
    const condition = new Condition(simulator, 'c');
    const log: string[] = [];
    function* waiter(name: string, ns: number): Task<void> {
      yield condition.within(ns);
      log.push(`${name}@${simulator.now} ${condition.timedOut}`);
      yield condition.within(ns);
      log.push(`${name}@${simulator.now} ${condition.timedOut}`);
    }
    function* notifier(): Task<void> {
      yield new Delay(simulator).for(50);
      condition.notifyAll();
    }
    simulator.spawn('short', waiter('short', 30));
    simulator.spawn('long', waiter('long', 100));
    simulator.spawn('notifier', notifier());
    simulator.run();
    // The timer of "long" for its first wait fires at 100 in the middle of its second and must not end it.
    expect(log).toEqual(['short@30 true', 'long@50 false', 'short@50 false', 'long@150 true']);
    expect(condition.awaited).toBe(false);
  });

  it('within: a limit beyond all simulated time never ends a wait', () => {
    const simulator = new Simulator();
    const condition = new Condition(simulator, 'c');
    const log: string[] = [];
    function* waiter(): Task<void> {
      yield new Delay(simulator).for(10);
      yield condition.within(Number.MAX_SAFE_INTEGER - 10);
      log.push(`at the very end: ${condition.timedOut}`);
      yield condition.within(1);
    }
    function* patient(): Task<void> {
      yield new Delay(simulator).for(10);
      yield condition.within(Number.MAX_SAFE_INTEGER);
      log.push(`notified: ${!condition.timedOut}`);
    }
    const waiting = simulator.spawn('waiter', waiter());
    const woken = simulator.spawn('patient', patient());
    expect(() => simulator.run(woken)).toThrow();
    expect(simulator.now).toBe(Number.MAX_SAFE_INTEGER);
    condition.notifyAll();
    simulator.run();
    expect(log).toEqual(['at the very end: true', 'notified: true']);
    expect(waiting.finished).toBe(true);
  });

  it('notifyOne wakes the one that has waited longest', () => {
    const simulator = new Simulator();
    const condition = new Condition(simulator, 'c');
    const log: string[] = [];
    function* waiter(name: string): Task<void> {
      yield condition;
      log.push(name);
    }
    function* notifier(): Task<void> {
      expect(condition.notifyOne()).toBe(true);
      yield new Delay(simulator).for(1);
      expect(condition.notifyOne()).toBe(true);
      expect(condition.notifyOne()).toBe(false);
    }
    simulator.spawn('a', waiter('a'));
    simulator.spawn('b', waiter('b'));
    simulator.spawn('n', notifier());
    simulator.run();
    expect(log).toEqual(['a', 'b']);
  });
});
