import { project } from '../../vitest.shared.ts';

export default project('ext4-jbd2');
