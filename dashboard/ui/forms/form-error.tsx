// The error of a whole form, shown above its fields.

import type { ReactNode } from 'react'

export const FormError = ({ children }: { children: ReactNode }) => (
  <p role="alert" className="rounded-lg border border-danger bg-danger-tint px-3 py-2 text-sm break-words">
    {children}
  </p>
)

/** The message for a field, or for its first invalid item (`allowedOrigins.2`). */
export const findFieldError = (errors: Record<string, string>, field: string): string | undefined =>
  errors[field] ??
  Object.entries(errors).find(([name]) => name.startsWith(`${field}.`) || name.startsWith(`${field}[`))?.[1]
