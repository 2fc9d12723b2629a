// The channels of a form, and one click to notify yourself.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Mail } from 'lucide-react'
import { ensureOwnChannel, tellsAddress } from '../../../../api/channels/own-channel.ts'
import { channelsQuery } from '../../../../api/channels.ts'
import { signInOptionsQuery, userQuery } from '../../../../api/session.ts'
import { useApi } from '../../../../shell/use-workspace.ts'
import { Button } from '../../../../ui/button.tsx'
import { focusNext } from '../../../../ui/focus.ts'
import { FormError, findFieldError } from '../../../../ui/forms/form-error.tsx'
import { findSilence } from '../../../channels/find-silence.ts'
import type { GroupProps } from '../form-draft.ts'
import { SettingsGroup } from '../settings-group.tsx'
import { ChannelChoice } from './channel-choice.tsx'

export const NotificationsGroup = ({ draft, set, errors }: GroupProps) => (
  <SettingsGroup id="notifications">
    <p className="text-soft">
      Choose who hears of new submissions. Spam, tests and submissions that wait for confirmation notify
      nobody.
    </p>
    <ChannelChoice
      selected={draft.channelIds}
      onChange={(channelIds) => set({ channelIds })}
      describe={findSilence}
      error={findFieldError(errors, 'channelIds')}
    />
    <NotifyMe
      selected={draft.channelIds}
      add={(id) => set({ channelIds: [...new Set([...draft.channelIds, id])] })}
    />
  </SettingsGroup>
)

/** Draws nothing for a person whom a chosen channel tells already. */
function NotifyMe({ selected, add }: { selected: number[]; add: (id: number) => void }) {
  const api = useApi()
  const client = useQueryClient()
  const { data: user } = useQuery(userQuery)
  const { data: server } = useQuery(signInOptionsQuery)
  const { data: channels } = useQuery(channelsQuery(api))
  const ensure = useMutation({
    mutationFn: (email: string) => ensureOwnChannel(api, client, email),
    onSuccess(id) {
      add(id)
      focusNext('#notifications input:checked')
    },
    onError() {},
  })
  if (!user || !channels || server?.mail !== true) return null
  if (channels.data.some((channel) => selected.includes(channel.id) && tellsAddress(channel, user.email)))
    return null
  return (
    <div className="grid gap-2 border-t border-line pt-5">
      {ensure.error && <FormError>{ensure.error.message}</FormError>}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Button icon={<Mail size={16} />} busy={ensure.isPending} onClick={() => ensure.mutate(user.email)}>
          Notify me
        </Button>
        <p className="min-w-0 text-sm wrap-anywhere text-soft">Emails {user.email}.</p>
      </div>
    </div>
  )
}
