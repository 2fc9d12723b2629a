// Stores the language that a person has chosen for the dashboard.

import type { SessionNeeds } from '../access/session.ts'

/** @param language null: the browser's */
export async function storeLanguage({ db, now }: SessionNeeds, userId: number, language: string | null) {
  await db.write((connection) =>
    connection.updateTable('users').set({ language, updated_at: now() }).where('id', '=', userId).execute(),
  )
}
