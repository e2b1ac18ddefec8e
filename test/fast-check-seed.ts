// Property tests draw the same cases in every run, so that a green run stays green on the same code. The long profile draws
// new ones each time: it is the one that looks for what nobody has seen yet, and a failure prints the seed that repeats it.
import fc from 'fast-check';

if (process.env.FLASHSTACK_LONG === undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_261_130 });
