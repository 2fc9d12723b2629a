// The choice of a new channel's type.

import type { ChannelType } from '../../../api/channels.ts'
import { classNames } from '../../../ui/class-names.ts'
import { CHANNEL_KINDS } from '../channel-kinds.tsx'

interface KindChoiceProps {
  type: ChannelType
  hasMail: boolean
  onChange: (type: ChannelType) => void
}

export function KindChoice({ type, hasMail, onChange }: KindChoiceProps) {
  return (
    <fieldset>
      <legend className="mb-1.5 text-sm font-medium">Type</legend>
      <div className="grid grid-cols-2 gap-2 sm:grid-cols-3">
        {CHANNEL_KINDS.map((kind) => (
          <label
            key={kind.type}
            className={classNames(
              'flex items-center gap-2 rounded-lg border px-3 py-2 has-focus-visible:outline-2 has-focus-visible:outline-accent',
              kind.type === type ? 'border-accent bg-tint' : 'border-line hover:bg-hover',
            )}
          >
            <input
              type="radio"
              name="kind"
              className="sr-only"
              checked={kind.type === type}
              onChange={() => onChange(kind.type)}
            />
            <kind.icon size={16} aria-hidden className="shrink-0 text-soft" />
            <span className="min-w-0">
              <span className="block truncate">{kind.label}</span>
              {kind.others && <span className="block text-xs text-soft">{kind.others}</span>}
              {kind.type === 'email' && !hasMail && (
                <span className="block text-xs text-warn">Not set up on this server</span>
              )}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
