// The forms and events that a channel is for, in words.

import type { ChannelResource } from '../../api/channels.ts'
import { formatCount } from '../../ui/format.ts'

export function describeUse({
  allForms,
  forms,
  events,
}: Pick<ChannelResource, 'allForms' | 'forms' | 'events'>): string {
  const others = events.filter((event) => event !== 'submission.created').length
  if (!events.includes('submission.created')) return `Used for ${formatCount(others, 'event')}`
  const use = describeForms({ allForms, forms })
  return others === 0 ? use : `${use}, and for ${formatCount(others, 'other event')}`
}

function describeForms({ allForms, forms }: Pick<ChannelResource, 'allForms' | 'forms'>): string {
  if (allForms)
    return forms === 0 ? 'Used by new forms' : `Used by ${formatCount(forms, 'form')} and new ones`
  return forms === 0 ? 'Not used by any form' : `Used by ${formatCount(forms, 'form')}`
}
