// One name and value of a request body, whichever content type the body has.

/** Entries are in the order of sending. `file: 'none'` is an empty file input, `fileName` an accepted file. */
export type BodyEntry = { name: string } & (
  | { value: string }
  | { file: 'none' | 'chosen' }
  | { fileName: string }
  | { nested: true }
)
