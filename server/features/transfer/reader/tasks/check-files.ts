// The task `check`: reads both files to their ends, so that a broken one changes nothing.

import { FileProblem } from '../../files/source-file.ts'
import type { TaskFunction } from '../protocol.ts'

export const checkFiles: TaskFunction<'check'> = async () => {
  throw new FileProblem('No files can be read yet.')
}
