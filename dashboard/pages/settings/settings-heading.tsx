// The heading of a part of the settings, with its description and actions.

import type { ReactNode } from 'react'

interface Props {
  title: string
  description?: ReactNode
  actions?: ReactNode
}

export const SettingsHeading = ({ title, description, actions }: Props) => (
  <header className="flex flex-wrap items-center gap-x-4 gap-y-2">
    <div className="min-w-0 flex-1 basis-80">
      <h2 className="text-lg font-semibold">{title}</h2>
      {description && <p className="text-soft">{description}</p>}
    </div>
    {actions}
  </header>
)
