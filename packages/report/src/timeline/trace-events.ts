import type { TimelineRecorder } from './recorder.js';

const CHANNELS = 1;
const DIES = 2;
/** Events in a piece of text. */
const CHUNK = 1000;

/**
 * A recording in the Chrome trace-event format (JSON object form, complete events, times in µs with fractions), which
 * Perfetto and `chrome://tracing` open: a track for each channel and each die. It comes in pieces, so that a long one
 * can be written without being held as a whole.
 */
export function* traceEvents(recorder: TimelineRecorder): Generator<string, void> {
  const { channels, dies } = recorder;
  const diesPerChannel = dies / channels;
  const metadata = [
    named('process_name', CHANNELS, 0, 'channels'),
    named('process_name', DIES, 0, 'dies'),
    ...Array.from({ length: channels }, (_, channel) => named('thread_name', CHANNELS, channel, `channel ${channel}`)),
    ...Array.from({ length: dies }, (_, die) => {
      const name = `channel ${Math.floor(die / diesPerChannel)} die ${die % diesPerChannel}`;
      return named('thread_name', DIES, die, name);
    }),
  ];
  yield `{"displayTimeUnit":"ns","otherData":{"dropped":"${recorder.dropped}"},"traceEvents":[\n${metadata.join(',\n')}`;
  let text = '';
  for (let at = 0; at < recorder.length; at++) {
    const { track, index, name, startNs, endNs } = recorder.interval(at);
    const process = track === 'channel' ? CHANNELS : DIES;
    const times = `"ts":${startNs / 1000},"dur":${(endNs - startNs) / 1000}`;
    text += `,\n{"ph":"X","pid":${process},"tid":${index},"name":"${name}",${times}}`;
    if ((at + 1) % CHUNK === 0) {
      yield text;
      text = '';
    }
  }
  yield `${text}\n]}\n`;
}

function named(what: string, process: number, thread: number, name: string): string {
  return `{"ph":"M","pid":${process},"tid":${thread},"name":"${what}","args":{"name":"${name}"}}`;
}
