// The size up to which a channel attaches the files of a submission to its mails.

import type { Kysely } from 'kysely'
import { addColumns, fromZero } from './columns.ts'

export const attachments = () => ({
  up: (db: Kysely<unknown>) => addColumns(db, 'channels', ['attach_up_to'], 'integer', fromZero),
})
