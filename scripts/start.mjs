// `npm start`, after the set-up: the main job on recorded traces. The same as `npm run -s flashstack -- demo`.
process.argv.splice(2, 0, 'demo');
await import('./flashstack.mjs');
