// The SQLite file that rows are copied from. It is opened for reading only.

import { Database } from 'bun:sqlite'

export type CopySource = Database

export function openCopySource(path: string): CopySource {
  const source = new Database(path, { readonly: true, strict: true })
  source.run('PRAGMA trusted_schema=OFF')
  return source
}
