# SPDX-License-Identifier: Apache-2.0
"""A small BERT classifier by the Trainer of transformers: its loader, its schedule, its logging."""
import tempfile

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

from common import device, iterations, loop

where = device()
steps = iterations(120)


class Sentences(torch.utils.data.Dataset):
    def __len__(self):
        return 16 * 4096

    def __getitem__(self, i):
        generator = torch.Generator().manual_seed(i)
        words = torch.randint(5, 8000, (64,), generator=generator)
        return {"input_ids": words, "attention_mask": (torch.arange(64) < 32 + i % 32).long(), "labels": words[0] % 4}


config = BertConfig(vocab_size=8000, hidden_size=256, num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024, num_labels=4)
with tempfile.TemporaryDirectory() as folder:
    options = TrainingArguments(output_dir=folder, per_device_train_batch_size=16, max_steps=steps, logging_steps=20, save_strategy="no",
                                report_to=[], disable_tqdm=True, dataloader_num_workers=2, learning_rate=1e-4, warmup_steps=10)
    trainer = Trainer(model=BertForSequenceClassification(config), args=options, train_dataset=Sentences())
    with loop():
        result = trainer.train()
print("finite", result.training_loss == result.training_loss)
