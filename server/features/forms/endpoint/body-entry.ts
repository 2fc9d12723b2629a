// One name and value of a request body, whichever content type the body has.

/**
 * Entries are in the order of sending. `file: 'none'` is a file input where nothing was chosen, `fileName` a file that the
 * form takes.
 */
export type BodyEntry = { name: string } & (
  | { value: string }
  | { file: 'none' | 'chosen' }
  | { fileName: string }
  | { nested: true }
)
