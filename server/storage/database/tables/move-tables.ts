// Progress of `towpath move`, stored in the target database.

/** A finished step. The rows stay after the move, so that it does not begin again. */
export interface MoveSteps {
  /** Such as `begin` or `table:links`. */
  step: string
  /** JSON. */
  detail: string
  /** When it was done, in milliseconds. */
  at: number
}
