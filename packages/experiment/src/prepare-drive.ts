import { InputError } from '@flashstack/sim';
import { deviceImageLabel, loadDevice, type Preconditioned, type Ssd, saveDevice } from '@flashstack/ssd';
import { canonicalJson } from './canonical-json.js';
import { sha256 } from './sha256.js';
import type { ResolvedSpec } from './spec.js';

/** What stands in the label of a saved drive: what it was prepared from, and how. */
interface ImageLabel {
  readonly preparation: string;
  readonly preconditioned: Preconditioned;
}

/**
 * Brings a new drive into the state that a spec asks for: by preconditioning, or out of the image of a drive that was
 * prepared from the same device, precondition, seed and modules; the run is the same either way.
 * @throws InputError `ERR_DRIVE_IMAGE` for an image of another preparation, `ERR_SSD_IMAGE` for a damaged one.
 */
export function prepareDrive(
  ssd: Ssd,
  spec: ResolvedSpec,
  options: { readonly image?: Uint8Array; readonly saveImage?: (image: Uint8Array) => void },
): Preconditioned {
  const { device, precondition, seed, modules } = spec;
  const preparation = sha256(canonicalJson({ device, precondition, seed, modules }));
  const { image, saveImage } = options;
  let preconditioned: Preconditioned;
  if (image === undefined) {
    preconditioned = ssd.precondition(precondition);
  } else {
    const label = labelOf(image);
    if (label.preparation !== preparation) {
      throw new InputError(
        'ERR_DRIVE_IMAGE',
        'the saved drive was prepared from another device, precondition, seed or module than the spec asks for. Save it again.',
        'image',
      );
    }
    loadDevice(ssd, image);
    preconditioned = label.preconditioned;
  }
  saveImage?.(saveDevice(ssd, JSON.stringify({ preparation, preconditioned } satisfies ImageLabel)));
  return preconditioned;
}

function labelOf(image: Uint8Array): ImageLabel {
  const text = deviceImageLabel(image);
  let label: Partial<ImageLabel> | null = null;
  try {
    label = JSON.parse(text) as Partial<ImageLabel> | null;
  } catch {
    // Reported below: what is no JSON has no preparation.
  }
  if (typeof label?.preparation === 'string') return label as ImageLabel;
  throw new InputError('ERR_DRIVE_IMAGE', 'the saved drive has no label of an experiment: save it by one.', 'image');
}
