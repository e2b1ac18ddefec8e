import type { Command } from 'commander';
import type { CommandParts } from '../crash-flags.js';
import type { SessionFlags } from '../session.js';
import { type CheckFlags, runImageDump, runImageFsck, runImageJournal } from './check-commands.js';
import { type CopyFlags, runImageCp } from './cp-command.js';
import { imageKinds } from './kinds.js';
import { type MkfsFlags, runImageMkfs } from './mkfs-command.js';
import { type ListFlags, runImageCat, runImageLs, runImageStat, runImageTree } from './read-commands.js';

const TIME = 'the present, in seconds since 1970; default: SOURCE_DATE_EPOCH, or the clock';

/** `flashstack image`: file systems in image files. */
export function addImage(root: Command, parts: CommandParts): void {
  const image = root.command('image').description('make, look into, check and fill file systems in image files');
  addMkfs(image, parts);
  addCp(image, parts);
  addReading(image, parts);
  addChecks(image, parts);
}

function addMkfs(image: Command, { common, collect, session, exitCodes }: CommandParts): void {
  const names = imageKinds.map(({ name }) => name).join(', ');
  const options = imageKinds.flatMap(({ name, options: table }) => [
    `\nOptions of ${name} (-O name=value):`,
    ...table.map(({ name: key, help }) => `  ${key.padEnd(17)} ${help}`),
  ]);
  common(image.command('mkfs').description('make a file system in a file').argument('<image>', 'image file'))
    .requiredOption('--fs <name>', names)
    .option('--size <size>', 'size of the image, such as 256MiB; default: that of the file')
    .option('-O, --option <name=value>', 'option of the file system; repeatable', collect)
    .option('--time <seconds>', TIME)
    .option('--force', 'also in a file that is there already: what it holds is lost')
    .addHelpText('after', `${options.join('\n')}\n${exitCodes}`)
    .action((path: string, flags: MkfsFlags & SessionFlags) => runImageMkfs(path, flags, session(flags)));
}

function addCp(image: Command, { common, session, ends, exitCodes }: CommandParts): void {
  common(
    image
      .command('cp')
      .description('copy as cp -a: into images, out of them, from one to another')
      .argument('<path...>', 'sources, then the destination; in an image: IMAGE:/path'),
  )
    .option('--time <seconds>', TIME)
    .addHelpText('after', exitCodes)
    .action((names: readonly string[], flags: CopyFlags & SessionFlags) =>
      ends(runImageCp(names, flags, session(flags))),
    );
}

function addReading(image: Command, { common, session }: CommandParts): void {
  const place = 'IMAGE:/path; IMAGE alone is its root';
  common(image.command('ls').description('list a directory, or a file').argument('<path>', place))
    .option('--json', 'print JSON')
    .action((path: string, flags: ListFlags & SessionFlags) => runImageLs(path, flags, session(flags)));
  common(image.command('tree').description('list everything below a directory').argument('<path>', place)).action(
    (path: string, flags: SessionFlags) => runImageTree(path, session(flags)),
  );
  common(image.command('cat').description('print contents as they are').argument('<path...>', 'IMAGE:/path')).action(
    (paths: readonly string[], flags: SessionFlags) => runImageCat(paths, session(flags)),
  );
  common(image.command('stat').description('print what an inode says').argument('<path>', place))
    .option('--json', 'print JSON')
    .action((path: string, flags: ListFlags & SessionFlags) => runImageStat(path, flags, session(flags)));
}

function addChecks(image: Command, { common, session, ends, exitCodes }: CommandParts): void {
  const reading = (name: string, what: string): Command =>
    common(image.command(name).description(what).argument('<image>', 'image file'))
      .option('--verbose', 'add the long table')
      .option('--json', 'print JSON');
  reading('fsck', 'check everything, repair nothing')
    .addHelpText('after', exitCodes)
    .action((path: string, flags: CheckFlags & SessionFlags) => ends(runImageFsck(path, flags, session(flags))));
  reading('dump', 'print superblock and groups').action((path: string, flags: CheckFlags & SessionFlags) =>
    runImageDump(path, flags, session(flags)),
  );
  reading('journal', 'print what a recovery would replay').action((path: string, flags: CheckFlags & SessionFlags) =>
    runImageJournal(path, flags, session(flags)),
  );
}
