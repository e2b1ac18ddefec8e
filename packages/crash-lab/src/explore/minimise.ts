import type { ImageChoice, ImageLimits } from '@flashstack/block-device/crash';
import type { CrashSubject } from '../subject.js';
import type { Step, Workload } from '../workload/workload.js';
import type { CrashCase } from './crash-case.js';
import { Explorer } from './explorer.js';
import { replayCase } from './replay.js';

/** Values that arguments are brought to, the plainest first. */
const PLAIN = [0, 4096];

/** How far a case is made smaller. */
export interface MinimiseOptions extends ImageLimits {
  /** Workloads that are explored at most. Default 300. */
  readonly budget?: number;
  /** How the file system is explored for the same violation; see `ExplorerOptions`. */
  readonly seed?: number;
}

/**
 * The smallest case that violates the same rule, as far as taking away programs, operations, arguments, overlap and lost
 * writes leads, one after the other. The same case gives the same result.
 */
export function minimiseCase(subject: CrashSubject, found: CrashCase, options: MinimiseOptions = {}): CrashCase {
  return new Minimiser(subject, found, options).run();
}

class Minimiser {
  private best: CrashCase;
  private left: number;
  private readonly subject: CrashSubject;
  private readonly options: MinimiseOptions;

  constructor(subject: CrashSubject, found: CrashCase, options: MinimiseOptions) {
    this.subject = subject;
    this.best = found;
    this.options = options;
    this.left = options.budget ?? 300;
  }

  run(): CrashCase {
    this.dropPrograms();
    if (this.best.overlap) this.attempt({ ...this.best, overlap: false });
    if (this.best.unmount) this.attempt({ ...this.best, unmount: false });
    for (let program = 0; program < this.best.workload.processes.length; program++) this.dropSteps(program);
    this.plainArguments();
    if (this.best.images.length > 1) this.attempt({ ...this.best, images: this.best.images.slice(0, 1) });
    this.keepMore();
    return this.best;
  }

  private dropPrograms(): void {
    for (let program = this.best.workload.processes.length - 1; program >= 0; program--) {
      const { processes } = this.best.workload;
      if (processes.length > 1) this.attemptPrograms(processes.filter((_, at) => at !== program));
    }
  }

  /** Delta debugging: halves, quarters and so on, down to single operations, until none can go. */
  private dropSteps(program: number): void {
    let size = Math.ceil((this.best.workload.processes[program]?.length ?? 0) / 2);
    while (size >= 1) {
      let dropped = false;
      for (let from = 0; from < this.best.workload.processes[program].length; ) {
        const steps = this.best.workload.processes[program];
        const fewer = [...steps.slice(0, from), ...steps.slice(from + size)];
        if (fewer.length > 0 && this.attemptSteps(program, fewer)) dropped = true;
        else from += size;
      }
      if (size === 1 && !dropped) return;
      size = size === 1 ? 1 : Math.ceil(size / 2);
    }
  }

  private plainArguments(): void {
    for (const [program, steps] of this.best.workload.processes.entries()) {
      for (const [at, step] of steps.entries()) {
        for (let argument = 1; argument < step.length; argument++) this.plainArgument(program, at, argument);
      }
    }
  }

  private plainArgument(program: number, at: number, argument: number): void {
    for (const value of PLAIN) {
      const steps = this.best.workload.processes[program];
      const before = steps[at][argument];
      if (typeof before !== 'number' || before <= value) continue;
      const plain = steps[at].with(argument, value) as unknown as Step;
      if (this.attemptSteps(program, steps.with(at, plain))) return;
    }
  }

  /** What was lost is kept, one unit after the other, where the violation does not need it. */
  private keepMore(): void {
    const last = this.best.images.length - 1;
    if (last < 0) return;
    const lasts = replayCase(this.subject, this.best).lasts;
    for (const [unit, kept] of lasts.entries()) {
      const choice = this.best.images[last];
      if (choice.chosen[unit] === kept) continue;
      const more: ImageChoice = { ...choice, chosen: choice.chosen.with(unit, kept) };
      const images = this.best.images.with(last, more);
      const violation = replayCase(this.subject, { ...this.best, images }).violations[0];
      if (violation?.rule === this.best.violation.rule) this.best = { ...this.best, images, violation };
    }
  }

  private attemptSteps(program: number, steps: readonly Step[]): boolean {
    return this.attemptPrograms(this.best.workload.processes.with(program, steps));
  }

  private attemptPrograms(processes: Workload['processes']): boolean {
    return this.attempt({ ...this.best, workload: { ...this.best.workload, processes } });
  }

  /** Looks for the same violation in a smaller case, and goes on with what it finds. */
  private attempt({ workload, overlap, unmount, model, images, violation }: CrashCase): boolean {
    if (this.left-- <= 0) return false;
    const { budget: _budget, ...options } = this.options;
    const explorer = new Explorer(this.subject, {
      ...options,
      model,
      overlap,
      unmounts: unmount ? 1 : 0,
      depth: Math.max(1, images.length),
      again: 1,
      uses: 1,
      first: violation.rule,
    });
    const found = explorer.explore(workload);
    if (found === null) return false;
    this.best = found;
    return true;
  }
}
