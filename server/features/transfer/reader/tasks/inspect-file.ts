// The task `inspect`: says what a file is, so that a person can map its columns and domains.

import { FileProblem } from '../../files/source-file.ts'
import type { TaskFunction } from '../protocol.ts'

export const inspectFile: TaskFunction<'inspect'> = async () => {
  throw new FileProblem('No files can be read yet.')
}
