// `node scripts/report-picture.mjs REPORT.html PICTURE.png [HEIGHT]`: the upper part of a report as a picture, as Debian's
// Chromium shows it. Makes docs/public/report.png.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

const [report, picture, height = '1180'] = process.argv.slice(2);
if (report === undefined || picture === undefined || !existsSync(report)) {
  process.stderr.write('usage: node scripts/report-picture.mjs REPORT.html PICTURE.png [HEIGHT]\n');
  process.exit(2);
}
const { status, stderr } = spawnSync(
  '/usr/bin/chromium',
  [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--hide-scrollbars',
    `--window-size=1240,${height}`,
    `--screenshot=${resolve(picture)}`,
    `file://${resolve(report)}`,
  ],
  { encoding: 'utf8' },
);
if (status !== 0) {
  process.stderr.write(stderr);
  process.exit(1);
}
