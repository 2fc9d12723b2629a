// The look that text fields and lists of options share, and the props that fields for codes share.

export const CONTROL =
  'w-full rounded-lg border border-strong bg-card px-3 text-ink disabled:opacity-60 aria-invalid:border-danger'

/** Props of a field for an address, a code or a name: a browser neither completes nor corrects it. */
export const CODE_INPUT = { autoComplete: 'off', autoCapitalize: 'none', spellCheck: false } as const
