// Joins class names, and skips the values that are not set.

export const classNames = (...names: (string | false | null | undefined)[]) => names.filter(Boolean).join(' ')
