// Numbers as people read them: three significant digits where a number stands alone, whole counts in groups of three,
// binary sizes with IEC names, decimal rates. A value that is not finite never reaches a reader.

const NONE = '–';

/** Number formats; `thin` is what stands between groups of three digits. */
export class Numbers {
  private readonly thin: string;
  private readonly none: string;

  /** In ASCII mode groups are separated by a plain space, otherwise by a narrow no-break space. */
  constructor(ascii: boolean) {
    this.thin = ascii ? ' ' : '\u202f';
    this.none = ascii ? '-' : NONE;
  }

  /** A whole number in groups of three: `13 751 424`. */
  count(value: number): string {
    if (!Number.isFinite(value)) return this.none;
    const digits = String(Math.abs(Math.round(value)));
    const grouped = digits.replace(/\B(?=(\d{3})+$)/g, this.thin);
    return value < 0 && grouped !== '0' ? `-${grouped}` : grouped;
  }

  /** A count with its noun: `1 line`, `2 140 lines`. */
  counted(value: number, noun: string): string {
    return `${this.count(value)} ${noun}${value === 1 ? '' : 's'}`;
  }

  /** Three significant digits below 1,000, whole above: `0.31`, `47.6`, `2 140`. */
  short(value: number): string {
    if (!Number.isFinite(value)) return this.none;
    if (value === 0) return '0';
    const size = Math.abs(value);
    if (size >= 999.5) return this.count(value);
    if (size >= 99.95) return value.toFixed(0);
    if (size >= 9.995) return value.toFixed(1);
    if (size >= 0.9995) return value.toFixed(2);
    return String(Number(value.toPrecision(3)));
  }

  /** A count with a decimal prefix: `114 k`, `1.31 M`. */
  scaled(value: number): string {
    if (!Number.isFinite(value)) return this.none;
    const prefixes = ['', ' k', ' M', ' G'];
    let step = 0;
    let rest = value;
    while (Math.abs(rest) >= 999.5 && step < prefixes.length - 1) {
      rest /= 1000;
      step++;
    }
    return `${this.short(rest)}${prefixes[step]}`;
  }

  /** A size: `79.4 GiB`. */
  bytes(value: number): string {
    if (!Number.isFinite(value)) return this.none;
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
    let step = 0;
    let rest = value;
    while (Math.abs(rest) >= 999.5 && step < units.length - 1) {
      rest /= 1024;
      step++;
    }
    const text = Number.isInteger(rest) ? this.count(rest) : this.short(rest);
    return `${text} ${units[step]}`;
  }

  /** A fraction as per cent, one decimal below 10 %: `71 %`, `2.4 %`. */
  percent(fraction: number): string {
    if (!Number.isFinite(fraction)) return this.none;
    const value = fraction * 100;
    const text = Math.abs(value) >= 9.95 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, '');
    return `${text === '-0' ? '0' : text} %`;
  }

  /** A time: `0.31 s`, `42 s`, `2 min 04 s`, `1 h 05 min`. */
  duration(seconds: number): string {
    if (!Number.isFinite(seconds)) return this.none;
    if (seconds < 59.5) return `${this.short(seconds)} s`;
    const whole = Math.round(seconds);
    if (whole < 3600) return `${Math.floor(whole / 60)} min ${pad2(whole % 60)} s`;
    return `${Math.floor(whole / 3600)} h ${pad2(Math.floor((whole % 3600) / 60))} min`;
  }

  /** Simulated time: `2.5 ms`, `21.4 s`, `2 min 04 s`. */
  simulated(ns: number): string {
    if (!Number.isFinite(ns)) return this.none;
    if (ns === 0) return '0 s';
    if (ns < 1e3) return `${this.short(ns)} ns`;
    if (ns < 1e6) return `${this.short(ns / 1e3)} µs`;
    if (ns < 1e8) return `${this.short(ns / 1e6)} ms`;
    return this.duration(ns / 1e9);
  }

  /** Nanoseconds as µs for a column headed so. */
  microseconds(ns: number): string {
    return this.short(ns / 1000);
  }
}

function pad2(value: number): string {
  return String(value).padStart(2, '0');
}
