// The number of forms that use a channel, in words.

import type { ChannelResource } from '../../api/channels.ts'
import { formatCount } from '../../ui/format.ts'

export function describeUse({ allForms, forms }: Pick<ChannelResource, 'allForms' | 'forms'>): string {
  if (allForms)
    return forms === 0 ? 'Used by new forms' : `Used by ${formatCount(forms, 'form')} and new ones`
  return forms === 0 ? 'Not used by any form' : `Used by ${formatCount(forms, 'form')}`
}
