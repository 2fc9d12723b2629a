// Search texts of links of earlier releases, which have marks. A job folds them in slices: see fold-search-texts.ts.

import { type Kysely, sql } from 'kysely'

export const searchTexts = () => ({
  async up(db: Kysely<unknown>) {
    await sql`insert into open_names (table_name, through)
      select 'links', max(id) from links having max(id) is not null`.execute(db)
  },
})
