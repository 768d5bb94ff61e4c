import { expect, test } from 'vitest';
import { environmentName, SETTING_NAMES } from '../../src/config/table.js';
import { last, lineage, pairs } from './support/dockerfile.js';
import { PACKAGE, readYaml } from './support/paths.js';

// `npm run lint:deploy` holds the manifest to the schemas of Kubernetes; this is about what fits together.

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: unknown }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
  readonly resources: Readonly<Record<'requests' | 'limits', Record<string, string>>>;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Deployment {
  readonly kind: string;
  readonly spec: {
    readonly selector: { readonly matchLabels: Record<string, string> };
    readonly template: {
      readonly metadata: { readonly labels: Record<string, string> };
      readonly spec: {
        readonly enableServiceLinks: boolean;
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: { readonly fsGroup: number };
        readonly containers: readonly [Container, Container];
        readonly volumes: readonly { readonly name: string }[];
      };
    };
  };
}

interface Service {
  readonly kind: string;
  readonly spec: {
    readonly selector: Record<string, string>;
    readonly ports: readonly { readonly targetPort: string }[];
  };
}

const [deployment, service] = readYaml('examples/kubernetes/sidecar.yaml') as [Deployment, Service];
const pod = deployment.spec.template.spec;
const [proxy, vllm] = pod.containers;
const image = pairs('ENV', lineage('proxy'));
const [uid, gid] = (last('USER', lineage('proxy')) ?? '').split(':').map(Number);
const envOf = (name: string) => proxy.env.find((each) => each.name === name);

test('it is a deployment of the proxy beside vLLM, and a service', () => {
  expect([deployment.kind, service.kind]).toEqual(['Deployment', 'Service']);
  expect(pod.containers.map(({ name }) => name)).toEqual(['proxy', 'vllm']);
  expect(proxy.image).toBe(`incontext-proxy:${PACKAGE.version}`);
});

test('the service leads to the proxy, at the port of its image', () => {
  const { labels } = deployment.spec.template.metadata;
  expect(labels).toMatchObject(service.spec.selector);
  expect(labels).toMatchObject(deployment.spec.selector.matchLabels);
  expect(proxy.ports).toEqual([{ name: 'http', containerPort: Number(image.INCONTEXT_PORT) }]);
  expect(service.spec.ports.map(({ targetPort }) => targetPort)).toEqual(['http']);
});

test('nobody goes past the proxy: vLLM listens on loopback, where the proxy looks for it', () => {
  const args = vllm.args ?? [];
  const address = `http://${args[args.indexOf('--host') + 1]}:${args[args.indexOf('--port') + 1]}`;
  expect(address).toBe('http://127.0.0.1:8000');
  expect(envOf('INCONTEXT_UPSTREAM_URL')?.value).toBe(address);
  expect(vllm.ports).toBeUndefined();
});

test('the probes ask the endpoints that are open to all', () => {
  expect(proxy.livenessProbe.httpGet).toEqual({ path: '/incontext/live', port: 'http' });
  expect(proxy.readinessProbe.httpGet).toEqual({ path: '/incontext/ready', port: 'http' });
});

test('the proxy drains while vLLM still answers, and both end within the grace period', () => {
  const sleeps = ({ lifecycle }: Container) => {
    const [command, seconds] = lifecycle.preStop.exec.command;
    expect(command).toBe('sleep');
    return Number(seconds);
  };
  const drained = sleeps(proxy) + Number(envOf('INCONTEXT_DRAIN_SECONDS')?.value);
  expect(sleeps(vllm)).toBeGreaterThan(drained);
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(sleeps(vllm));
});

test('the proxy runs as the user of its image, confined', () => {
  expect(proxy.securityContext).toEqual({
    runAsNonRoot: true,
    runAsUser: uid,
    runAsGroup: gid,
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
  });
  expect(pod.securityContext.fsGroup).toBe(gid);
});

test('its data lie in a volume, and every volume exists', () => {
  expect(proxy.volumeMounts).toContainEqual({ name: 'data', mountPath: image.INCONTEXT_DATA_DIR });
  const mounted = pod.containers.flatMap(({ volumeMounts }) => volumeMounts.map(({ name }) => name));
  expect(pod.volumes.map(({ name }) => name).toSorted()).toEqual([...new Set(mounted)].toSorted());
});

test('it gives settings that exist, and keys from secrets only', () => {
  const known = SETTING_NAMES.map(environmentName);
  expect(proxy.env.length).toBeGreaterThan(2);
  for (const { name, value, valueFrom } of [...proxy.env, ...vllm.env]) {
    if (/KEYS?$|TOKEN$/.test(name)) expect([value, typeof valueFrom]).toEqual([undefined, 'object']);
    if (name.startsWith('INCONTEXT_')) expect(known).toContain(name);
  }
});

test('addresses of other services stay out of its settings', () => {
  expect(pod.enableServiceLinks).toBe(false);
});

test('it says what it needs', () => {
  expect(Object.keys(proxy.resources.requests)).toEqual(['cpu', 'memory']);
  expect(Object.keys(proxy.resources.limits)).toContain('memory');
  expect(Object.keys(vllm.resources.limits)).toContain('nvidia.com/gpu');
});
