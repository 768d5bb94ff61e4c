import { describe, expect, test } from 'vitest';
import { told } from '../support/proxy.js';
import { RESPONSES, start } from './support/endpoints.js';

describe('a response', () => {
  test('without a cap gets one under the name that it reads', async () => {
    const { stub, post } = await start();
    const response = await post(RESPONSES, '{"model":"m","input":"q","max_tokens":7}');
    expect(told(response)).toMatchObject({ reason: 'cap_inserted', 'max-tokens': '1096' });
    expect(stub.only(RESPONSES).body.toString()).toBe(
      '{"model":"m","input":"q","max_tokens":7,"max_output_tokens":1096}',
    );
  });

  test('whose instructions, input and tools are all counted (bug case 72)', async () => {
    const { stub, post } = await start();
    const tool = '{"type":"function","name":"t","parameters":{}}';
    await post(
      RESPONSES,
      `{"model":"m","instructions":"be brief","input":[{"role":"user","content":"q"}],"tools":[${tool}]}`,
    );
    const counted = stub
      .at('/tokenize')
      .find(({ body }) => body.includes('be brief'))
      ?.body.toString();
    for (const part of ['"content":"q"', '"name":"t"']) expect(counted).toContain(part);
  });

  test('with an image is estimated, never counted wrong', async () => {
    const { stub, post } = await start();
    const image = '{"type":"input_image","image_url":"data:image/png;base64,AAAA"}';
    const response = await post(RESPONSES, `{"model":"m","input":[{"role":"user","content":[${image}]}]}`);
    expect(told(response)).toMatchObject({ source: 'rough-fallback', reason: 'cap_inserted' });
    expect(stub.at('/tokenize')).toHaveLength(0);
  });
});
