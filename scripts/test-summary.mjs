// Prints the one line that a continuous-integration log ends with, counted from the test runner's report.
import { existsSync, readFileSync } from 'node:fs';

const report = new URL('../out/test-report.json', import.meta.url);
if (existsSync(report)) {
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(
    readFileSync(report, 'utf8'),
  );
  // A file that fails to load has no tests of its own, and is still a failure.
  const broken = testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0).length;
  const skipped = numPendingTests + numTodoTests;
  process.stdout.write(`Tests: ${numPassedTests} passed, ${numFailedTests + broken} failed, ${skipped} skipped\n`);
} else {
  process.stderr.write('The test runner wrote no report: a stage before the tests failed.\n');
  process.stdout.write('Tests: 0 passed, 1 failed, 0 skipped\n');
}
