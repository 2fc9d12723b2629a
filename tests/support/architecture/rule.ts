// The types of the rules: their input and their reports. Every rule imports them from here, so that no rule needs
// another one.

export interface RepositoryFile {
  path: string
  text: string
}

export type RuleName =
  | 'layers'
  | 'features'
  | 'entrances'
  | 'rooms'
  | 'circles'
  | 'environment'
  | 'drivers'
  | 'fetch'
  | 'texts'
  | 'clocks'
  | 'dashboard'
  | 'snippet'
  | 'packages'
  | 'workspace'
  | 'allow'
  | 'length'
  | 'folders'
  | 'names'
  | 'exports'
  | 'openings'
  | 'words'
  | 'exceptions'

export interface Violation {
  rule: RuleName
  file: string
  line: number
  /** The function or file part that an exception can name. */
  what: string
  /** For `length`: how long the function is. */
  lines?: number
  message: string
}

export interface RuleException {
  rule: RuleName
  file: string
  /** The same as in the violation. Absent: the exception covers the whole file. */
  what?: string
  /** For `length`: the function may get shorter than this, never longer. */
  lines?: number
  why: string
}

/** Fixtures stand beside the tests that use them and count as tests. */
export const isTest = (path: string) => /\.(test|fixture)\.tsx?$/.test(path)

export const isProduct = (path: string) =>
  /^(server|dashboard|snippet|packages)\//.test(path) && !isTest(path)
