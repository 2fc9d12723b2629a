// An index on waiting notices about disabled channels. The index of waiting deliveries by channel leaves out disabled channels.

import { type Kysely, sql } from 'kysely'

export const words = () => ({
  async up(db: Kysely<unknown>) {
    await sql`create index deliveries_words on deliveries (due_at)
      where status = 'waiting' and event = 'channel.disabled'`.execute(db)
  },
})
