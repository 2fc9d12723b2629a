// The second half of the deletion of a workspace: erases the hits of this node, after the rows were deleted.

import type { Database } from '../../storage/database/database.ts'

export interface ErasureNeeds {
  db: Database
  now: () => number
  /** This node. Each node has its own hits, so it marks its own erasures. */
  node: string
  eraseHits(workspaceIds: number[]): Promise<void>
}

/** For a new node, which has no hits of workspaces that were deleted before. */
export async function skipPastErasures({
  db,
  now,
  node,
}: Omit<ErasureNeeds, 'invalidateWorkspace' | 'eraseHits'>) {
  await db.write((connection) =>
    connection
      .insertInto('erasure_marks')
      .columns(['workspace_id', 'node', 'done_at'])
      // Without a condition, SQLite would parse `on conflict` as part of a join.
      .expression((e) =>
        e
          .selectFrom('erasures')
          .select(['workspace_id', e.val(node).as('node'), e.val(now()).as('done_at')])
          .where(e.lit(true)),
      )
      .onConflict((conflict) => conflict.doNothing())
      .execute(),
  )
}

/** Runs the erasures that this node has not marked. An interrupted erasure runs again. */
export async function eraseDeletedWorkspaces({ db, now, node, ...needs }: ErasureNeeds): Promise<void> {
  const due = await db.read
    .selectFrom('erasures')
    .select('workspace_id')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('erasure_marks')
            .select('node')
            .where('node', '=', node)
            .whereRef('erasure_marks.workspace_id', '=', 'erasures.workspace_id'),
        ),
      ),
    )
    .orderBy('workspace_id')
    .execute()
  if (due.length === 0) return
  const ids = due.map((erasure) => erasure.workspace_id)
  await needs.eraseHits(ids)
  const marks = ids.map((id) => ({ workspace_id: id, node, done_at: now() }))
  await db.write((connection) =>
    connection
      .insertInto('erasure_marks')
      .values(marks)
      .onConflict((conflict) => conflict.doNothing())
      .execute(),
  )
}
