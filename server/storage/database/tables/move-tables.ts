// Progress of `towpath move`, kept in the database that it moves to.

/** A step that is done. The rows stay when the move has ended, so that it is not begun again. */
export interface MoveSteps {
  /** Such as `begin` or `table:links`. */
  step: string
  /** JSON. */
  detail: string
  /** When it was done, in milliseconds. */
  at: number
}
