import { join } from 'node:path';
import type { ExperimentResult } from '@flashstack/experiment';
import { writeWhole } from '@flashstack/experiment/node';
import { Resvg } from '@resvg/resvg-js';
import { type FigureFile, figureFiles, reproductionFigures } from '../figure-files.js';
import { figureName } from '../reproduction/names.js';
import type { Reproduction } from '../reproduction/types.js';
import type { ReportOptions } from '../run-report.js';

/** Pixels of a picture per pixel of its drawing: enough for print. */
const SCALE = 3;

/** A figure on disk. */
export interface WrittenFigure {
  readonly name: string;
  readonly title: string;
  /** Paths of the two forms. */
  readonly svg: string;
  readonly png: string;
}

/**
 * Writes every figure of a report into a folder, as SVG and as PNG; the folder is made if it is missing. The SVG is the
 * same on every machine; letters in the PNG have the machine's font.
 * @throws InputError as `renderReport`, HostError if a file cannot be written; those before it stay.
 */
export function renderFigures(
  results: readonly ExperimentResult[],
  folder: string,
  options: ReportOptions = {},
): WrittenFigure[] {
  return write(figureFiles(results, options), folder);
}

/**
 * The same for the figures of a reproduction. Names begin with that of the reproduction, so that the files of several fit
 * into one folder.
 * @throws InputError as `renderReproductions`, HostError if a file cannot be written; those before it stay.
 */
export function renderReproductionFigures(reproduction: Reproduction, folder: string): WrittenFigure[] {
  const files = reproductionFigures(reproduction);
  return write(
    files.map((file) => ({ ...file, name: figureName(reproduction.id, file.name) })),
    folder,
  );
}

function write(files: readonly FigureFile[], folder: string): WrittenFigure[] {
  return files.map(({ name, title, svg }) => {
    const paths = { svg: join(folder, `${name}.svg`), png: join(folder, `${name}.png`) };
    writeWhole(paths.svg, svg);
    writeWhole(paths.png, picture(svg));
    return { name, title, ...paths };
  });
}

function picture(svg: string): Uint8Array {
  const font = { loadSystemFonts: true, sansSerifFamily: 'DejaVu Sans', defaultFontFamily: 'DejaVu Sans' };
  return new Resvg(svg, { fitTo: { mode: 'zoom', value: SCALE }, font }).render().asPng();
}
