// A reporter of the test runner that keeps the names of the test files under way in `out/tests-under-way.json`: of a test that never
// ends nothing else tells, because a busy worker cannot be asked.
import { mkdirSync, writeFileSync } from 'node:fs';

const out = new URL('../out/', import.meta.url);
const nameOf = (file) => `${file.project.name}/${file.relativeModuleId}`;

export default class TestProgress {
  #underWay = new Set();

  onInit() {
    mkdirSync(out, { recursive: true });
    this.#note();
  }

  onTestModuleStart(file) {
    this.#underWay.add(nameOf(file));
    this.#note();
  }

  onTestModuleEnd(file) {
    this.#underWay.delete(nameOf(file));
    this.#note();
  }

  #note() {
    writeFileSync(new URL('tests-under-way.json', out), JSON.stringify([...this.#underWay]));
  }
}
