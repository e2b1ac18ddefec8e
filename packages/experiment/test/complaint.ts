/** What an action complains of; empty if it does not. */
export function complaint(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    return (error as Error).message;
  }
  return '';
}
