/** A promise that a recovered tree breaks. */
export interface Violation {
  /** Of the rules: R1 to R13, E1 and so on. */
  readonly rule: string;
  /** The object that it concerns. */
  readonly path: string;
  /** What is wrong, with what was expected and found. */
  readonly text: string;
}
