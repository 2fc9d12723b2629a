// Checks of a file before it is uploaded.

import { formatBytes } from '../../../ui/format.ts'

/** @param advice what to do with a file that is too large */
export function findFileProblem(
  { name, size }: File,
  max: number,
  advice = 'The operator of the server can import it: npx towpath import.',
): string | undefined {
  if (size === 0) return `${name} is empty.`
  if (size <= max) return undefined
  return `${name} has ${formatBytes(size)}, and at most ${formatBytes(max)} can be uploaded here. ${advice}`
}
