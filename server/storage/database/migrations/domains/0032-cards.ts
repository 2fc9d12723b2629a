// Social cards of links: what Facebook, Slack and others show in place of the destination's own card.

import type { Kysely } from 'kysely'
import type { DatabaseEngine } from '../../database.ts'
import { getColumnTypes } from '../columns.ts'

export function cards(engine: DatabaseEngine) {
  const { text } = getColumnTypes(engine)

  return {
    async up(db: Kysely<unknown>) {
      for (const name of ['preview_title', 'preview_description', 'preview_image'])
        await db.schema.alterTable('links').addColumn(name, text).execute()
    },
  }
}
