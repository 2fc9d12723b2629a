// The look that text fields and lists of options share.

export const CONTROL =
  'w-full rounded-lg border border-strong bg-card px-3 text-ink disabled:opacity-60 aria-invalid:border-danger'
