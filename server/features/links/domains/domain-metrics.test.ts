// The metrics of domains follow each DNS check, with a real DNS server.

import { afterAll, expect, test } from 'bun:test'
import { type DnsServer, startDnsServer } from '../../../../tests/support/fake-servers/dns-server.ts'
import { fetchMetrics, sumSamples } from '../../../../tests/support/read-metrics.ts'
import { onSqlite } from '../../../../tests/support/world.ts'

const dns: DnsServer = await startDnsServer()
afterAll(() => dns.stop())

onSqlite(
  'the metrics of domains',
  (server) => {
    test('count domains that are verified, and those whose proof is gone until it is back', async () => {
      const own = await server().createWorkspace()
      const count = async () => {
        const samples = await fetchMetrics(server().origin)
        return ['verified', 'failing'].map((state) => sumSamples(samples, `towpath_domains_${state}`))
      }
      const { id, dns: records } = (await own.post('/domains', { domain: 'links.acme.example' })).json.data
      const verify = () => own.post(`/domains/${id}/verify`)
      expect(await count()).toEqual([0, 0])
      dns.set('TXT', records[0].name, records[0].value)
      await verify()
      expect(await count()).toEqual([1, 0])
      dns.set('TXT', records[0].name)
      await verify()
      expect(await count()).toEqual([1, 1])
      dns.set('TXT', records[0].name, records[0].value)
      await verify()
      expect(await count()).toEqual([1, 0])
    })
  },
  { environment: { DNS_SERVERS: dns.address } },
)
