import { BaseImage, CrashDevice } from '@flashstack/block-device/crash';
import { Host } from '@flashstack/host';
import { InputError, runTask, Simulator, type Task } from '@flashstack/sim';
import { SimplePageCache, type Thread, type UserProcess } from '@flashstack/vfs';
import type { CrashSubject } from '../subject.js';
import { BASE_STATES } from '../workload/base-states.js';
import { makeBase } from '../workload/execute.js';

/** A host with the file system of a subject on a device, in a simulation of its own. */
export class Machine {
  readonly simulator: Simulator;
  readonly host: Host;
  private readonly programs: UserProcess[] = [];

  constructor(subject: CrashSubject, device: CrashDevice, simulator: Simulator = new Simulator()) {
    this.simulator = simulator;
    this.host = new Host({
      simulator,
      cache: new SimplePageCache(simulator, device),
      fileSystem: (environment) => subject.scheme.open(device, environment),
    });
  }

  /** Mounts the file system. @throws whatever it throws */
  mount(): void {
    this.host.run(this.host.mount());
  }

  /** Ends the programs whose threads it gave out, and unmounts. @throws whatever the file system throws */
  unmount(): void {
    for (const program of this.programs) this.host.run(program.exit());
    this.programs.length = 0;
    this.host.run(this.host.unmount());
  }

  /** A thread of root without umask. */
  thread(): Thread {
    const program = this.host.process({ umask: 0 });
    this.programs.push(program);
    return program.thread();
  }

  /** Waits for programs that run beside each other. */
  runAll(programs: readonly Task<void>[]): void {
    const { host, simulator } = this;
    const running = programs.map((task) => simulator.spawn('program', task, { group: host.group }));
    host.run(
      (function* (): Task<void> {
        for (const program of running) yield program;
      })(),
    );
  }
}

/** A volume in the base state of workloads: the device that they run on, and those that power cuts of it are opened on. */
export class BaseVolume {
  readonly device: CrashDevice;
  /** Of the device, of recovery, of the recovery of recovery. */
  readonly levels: readonly CrashDevice[];

  /** Makes an empty file system, the base state in it, and unmounts. @throws InputError `ERR_BASE_STATE` */
  constructor(subject: CrashSubject, base: string, depth: number) {
    if (!Object.hasOwn(BASE_STATES, base)) {
      const known = Object.keys(BASE_STATES).join('", "');
      throw new InputError('ERR_BASE_STATE', `base is "${base}", expected "${known}".`, 'base');
    }
    const fresh = new CrashDevice(BaseImage.blank(subject.blocks));
    runTask(new Simulator(), subject.scheme.format(fresh));
    const machine = new Machine(subject, fresh);
    machine.mount();
    machine.host.run(makeBase(base, machine.host));
    machine.unmount();
    this.device = new CrashDevice(fresh.freeze());
    const levels = [this.device];
    while (levels.length <= depth) levels.push(levels[levels.length - 1].successor());
    this.levels = levels;
  }
}
