// The index by which word to owners is found: its channel is off, and what waits for that one is not looked through.

import { type Kysely, sql } from 'kysely'

export const words = () => ({
  async up(db: Kysely<unknown>) {
    await sql`create index deliveries_words on deliveries (due_at)
      where status = 'waiting' and event = 'channel.disabled'`.execute(db)
  },
})
