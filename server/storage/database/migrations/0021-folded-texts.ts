// Search texts of submissions of earlier releases, which have marks: a job folds them in slices (fold-submission-texts.ts).
// Targets of links for `UK`, which is not a country code: the country of visitors in the United Kingdom is `GB`.

import { type Kysely, sql } from 'kysely'

export const foldedTexts = () => ({
  async up(db: Kysely<unknown>) {
    await sql`insert into open_names (table_name, through)
      select 'submissions.search_text', max(id) from submissions having max(id) is not null`.execute(db)
    const { rows } = await sql<{ id: number; geo_targeting: string }>`
      select id, geo_targeting from links where geo_targeting like '%"UK"%'`.execute(db)
    for (const { id, geo_targeting } of rows)
      await sql`update links set geo_targeting = ${renameTarget(geo_targeting)} where id = ${id}`.execute(db)
  },
})

/** A target for `GB` stays. */
function renameTarget(json: string): string {
  const { UK, ...targets } = JSON.parse(json)
  return JSON.stringify(UK === undefined ? targets : { GB: UK, ...targets })
}
