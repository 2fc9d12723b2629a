// The task `links`: sends the links of a file in batches, from where the last one was stored.

import { FileProblem } from '../../files/source-file.ts'
import type { TaskFunction } from '../protocol.ts'

export const readLinks: TaskFunction<'links'> = async () => {
  throw new FileProblem('No files can be read yet.')
}
