// Progress of a move, stored in the target database, so that a killed move continues.

import type { Connection, Database } from '../open-database.ts'

export interface MoveLog {
  /** The recorded detail of a step; undefined if it is not done. */
  find<T>(step: string): Promise<T | undefined>
  /** @param connection the transaction of the step, if it has one */
  note(step: string, detail: unknown, connection?: Connection): Promise<void>
  /** Marks the steps that begin with these words as not done. */
  undo(prefix: string): Promise<void>
}

/** The moved stores. A move of the rows can be followed by one of the hits, with its own steps. */
export const MOVE_SCOPES = ['all', 'rows', 'hits'] as const
export type MoveScope = (typeof MOVE_SCOPES)[number]

const toScopedStep = (scope: MoveScope, step: string) => `${scope}/${step}`

/** @returns true if a move of the hits has ended */
export async function haveHitsMoved({ read }: Pick<Database, 'read'>): Promise<boolean> {
  const ends = [toScopedStep('all', 'end'), toScopedStep('hits', 'end')]
  const end = await read.selectFrom('move_steps').select('step').where('step', 'in', ends).executeTakeFirst()
  return end !== undefined
}

type Write = <T>(body: (connection: Connection) => Promise<T>) => Promise<T>

export function createMoveLog(write: Write, now: () => number, scope: MoveScope): MoveLog {
  const inScope = (step: string) => toScopedStep(scope, step)
  async function noteIn(connection: Connection, step: string, detail: unknown) {
    const row = { detail: JSON.stringify(detail), at: now() }
    await connection
      .insertInto('move_steps')
      .values({ step: inScope(step), ...row })
      .onConflict((conflict) => conflict.column('step').doUpdateSet(row))
      .execute()
  }
  return {
    find: (step) =>
      write(async (connection) => {
        const row = await connection
          .selectFrom('move_steps')
          .select('detail')
          .where('step', '=', inScope(step))
          .executeTakeFirst()
        return row && JSON.parse(row.detail)
      }),
    note: (step, detail, connection) =>
      connection ? noteIn(connection, step, detail) : write((own) => noteIn(own, step, detail)),
    undo: (prefix) =>
      write(async (connection) => {
        await connection
          .deleteFrom('move_steps')
          .where('step', 'like', `${inScope(prefix)}%`)
          .execute()
      }),
  }
}
