/** The rule that a command has broken; stable, for programs that react to it. */
export type NandRule =
  | 'page-order'
  | 'page-programmed'
  | 'partial-programs'
  | 'block-erasing'
  | 'block-garbage'
  | 'block-bad'
  | 'program-unit'
  | 'address'
  | 'slot-mask'
  | 'planes'
  | 'plane-count'
  | 'plane-distinct'
  | 'plane-die'
  | 'plane-page'
  | 'plane-block'
  | 'copyback'
  | 'copyback-plane'
  | 'copyback-parity'
  | 'copyback-count'
  | 'copyback-source'
  | 'cache'
  | 'read-unfinished'
  | 'relocate'
  | 'token'
  | 'busy';

/**
 * A command that a NAND part would refuse or that would destroy data. It is always a mistake of the caller, never a
 * simulated fault; the device is unchanged.
 */
export class NandRuleError extends Error {
  /** `ERR_NAND_` and the rule in capitals, for example `ERR_NAND_PAGE_ORDER`. */
  readonly code: string;
  readonly rule: NandRule;

  constructor(rule: NandRule, message: string) {
    super(message);
    this.name = 'NandRuleError';
    this.rule = rule;
    this.code = `ERR_NAND_${rule.toUpperCase().replaceAll('-', '_')}`;
  }
}

/**
 * The event scheduler found a resource taken that its plan holds free, or work that can never start.
 * It is a fault of the scheduler (or of a subclass), never of the caller.
 */
export class NandScheduleError extends Error {
  readonly code = 'ERR_NAND_SCHEDULE';

  constructor(message: string) {
    super(message);
    this.name = 'NandScheduleError';
  }
}
